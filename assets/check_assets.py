"""Before a package is built: what ships as data has the SHA-256 that stands beside it, or nothing is built."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Folders with a SHA256SUMS.
FOLDERS = ("bge-small-zh-v1.5", "words", "hanzi")


class CheckAssets(BuildHookInterface):
    """Stops a build whose weights or word table are not those that were made."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compare every file; raises ValueError naming those that differ."""
        wrong = [name for folder in FOLDERS for name in differing(Path(self.root) / "assets" / folder)]
        if wrong:
            raise ValueError(f"not as they were made: {', '.join(wrong)}")


def differing(folder: Path) -> list[str]:
    """The files of a folder whose SHA-256 is another than its SHA256SUMS says, or that are missing."""
    wrong = []
    for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        path = folder / name.strip()
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            wrong.append(f"{folder.name}/{name.strip()}")
    return wrong
