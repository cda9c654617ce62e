"""Whether a project's subjects are sound: lines that can't be read, files that lead elsewhere, secrets that got out.

A secret is a sentence of subject.md. Where one turns up in what an actor may read, file and line are named, never it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nebula.errors import FileUnusable
from nebula.subject import records
from nebula.subject.cast import for_actor
from nebula.subject.files import EVENTS, HISTORY, MEMORY, MIND, SIX, SOUL, STATE, SUBJECT, read_text
from nebula.subject.ids import key
from nebula.subject.project import read_own
from nebula.text import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from nebula.subject.project import Project

LEAST = 8  # letters of a sentence that counts as one
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_ENDS = re.compile(r"[。！？!?；;\n]|\.(?=\s)")


@dataclass(frozen=True)
class Fault:
    """Something wrong: kind `absent`, `link`, `line`, `secret` or `alike`; line 0 for a whole file."""

    subject: str
    file: str
    line: int
    kind: str
    reason: str = ""


def check(project: Project, subjects: Sequence[str] = ()) -> list[Fault]:
    """All faults of some subjects, of all without names. Raises UnknownSubject."""
    with project.reading(*subjects) as place:
        found = place.folders()
        chosen = {name: place.folder(name) for name in subjects} or dict(found)
        faults = [fault for name, folder in chosen.items() for fault in _of_one(name, folder)]
    keys: dict[str, str] = {}
    for name in found:
        other = keys.setdefault(key(name), name)
        if other != name:
            faults.append(Fault(name, "", 0, "alike", other))
    return faults


def _of_one(subject: str, folder: Path) -> Iterator[Fault]:
    readable: dict[str, bytes] = {}
    for name in (*SIX, HISTORY):
        path = folder / name
        if not path.exists() and not path.is_symlink():
            if name in SIX:
                yield Fault(subject, name, 0, "absent")
            continue
        try:
            readable[name] = read_own(path)
        except FileUnusable as error:
            yield Fault(subject, name, 0, "link", error.message)
    for name, read in ((EVENTS, records.events), (MEMORY, records.views)):
        for problem in read(readable.get(name, b""))[1]:
            yield Fault(subject, name, problem.line, "line", problem.reason)
    if SUBJECT in readable:
        hidden = secrets(_FRONT.sub("", for_actor(read_text(folder, SUBJECT))))
        for name in (SOUL, EVENTS, MEMORY, MIND, STATE):
            for number, line in enumerate(readable.get(name, b"").decode("utf-8", "replace").split("\n"), start=1):
                if any(secret in _folded(line) for secret in hidden):
                    yield Fault(subject, name, number, "secret")


def secrets(text: str) -> list[str]:
    """The sentences of a page, folded, headings and short ones left out."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    folded = (_folded(sentence) for line in lines for sentence in _ENDS.split(line))
    return [sentence for sentence in folded if len(sentence) >= LEAST]


def _folded(text: str) -> str:
    return "".join(char for char in normal.fold(text) if char.isalnum())
