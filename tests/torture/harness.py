"""What the tests of this folder share: the command as a process, the tools of the machine, and what a mind holds."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from nebula.cli import main
from nebula.mindlib.store import SIDE_LEDGERS, Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT = Path(__file__).parents[2]
NEBULA = [sys.executable, "-m", "nebula"]


def full(*values: object) -> Any:
    """A parameter of the full size, which takes time: only with `-m torture`."""
    return pytest.param(*values, marks=[pytest.mark.torture, pytest.mark.timeout(3600)])


def unguarded(*names: str) -> list[str]:
    """The command without some of its guards."""
    return [sys.executable, "-m", "tests.torture.guards", *names, "--"]


def environment(mind: Path, **more: str) -> dict[str, str]:
    """As a person's shell has it, for the mind in a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEBULA_")}
    own = {"NEBULA_MIND": str(mind), "NEBULA_LANG": "en", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **own, **more}


def run(
    mind: Path,
    *argv: str,
    before: Sequence[str] = (),
    command: Sequence[str] = NEBULA,
    timeout: float = 120,
    given: bytes = b"",
    **env: str,
) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own, perhaps under another program (`before`)."""
    return subprocess.run(
        [*before, *command, *argv],
        input=given,
        env=environment(mind, **env),
        capture_output=True,
        check=False,
        timeout=timeout,
    )


def helper(module: str, *argv: object, timeout: float = 3000) -> Any:
    """What `python -m tests.torture.MODULE` prints, read as JSON."""
    command = [sys.executable, "-m", f"tests.torture.{module}", *map(str, argv)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=timeout)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return json.loads(done.stdout)


def inside(mind: Path, *argv: str, given: bytes = b"", **env: Any) -> tuple[int, str, str]:
    """The command in this process: (exit code, stdout, stderr)."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    entered = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.dict(os.environ, {"NEBULA_MIND": str(mind), **env}),
        mock.patch.object(sys, "stdin", entered),
    ):
        code = main(list(argv))
        out.flush()
    return code, out.buffer.getvalue().decode(), err.getvalue()


def clear_line(done: subprocess.CompletedProcess[bytes]) -> str:
    """The one line of a refusal: no traceback, nothing else on stderr."""
    said = done.stderr.decode()
    assert "Traceback" not in said, said
    assert len(said.strip().splitlines()) == 1, said
    return said


def ledgers(folder: Path) -> dict[str, bytes]:
    """Every ledger's bytes."""
    return {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}


def only_grown(folder: Path, before: Mapping[str, bytes]) -> bool:
    """Whether each ledger still begins with what it held."""
    return all((folder / name).read_bytes().startswith(data) for name, data in before.items())


def texts(folder: Path) -> list[str]:
    """The text of every memory that can be read, in file order."""
    return [memory.text for memory in Store(folder).read_all().memories]


def damages(folder: Path) -> int:
    """How many lines of all ledgers can't be read."""
    store = Store(folder)
    return len(store.read_all().damages) + sum(
        len(store.scan(name).damages) for name in SIDE_LEDGERS if name not in {"changes.jsonl", "captured.jsonl"}
    )


def tree(folder: Path, *, derived: bool = False) -> dict[str, str]:
    """A hash of every file's bytes, by its name within the folder; the index only where asked for."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and (derived or not name.startswith((".index", ".recent"))):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def copy(source: Path, target: Path) -> Path:
    """A copy of a folder with its times."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    return target


def needs(*programs: str) -> Any:
    """Skip where a program of the machine is missing."""
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not here: {', '.join(missing)}")


def works(command: Sequence[str]) -> bool:
    """Whether a tool does here what it is for (containers often forbid namespaces or tracing)."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False, timeout=30).returncode == 0


def has_namespaces() -> bool:
    """Whether a private mount namespace can be made."""
    return works(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"])


def has_strace() -> bool:
    """Whether system calls can be tampered with."""
    return works(["strace", "-o", os.devnull, "-e", "inject=fsync:error=EIO", "true"])


def evenly(items: Sequence[Any], count: int) -> Iterable[Any]:
    """At most `count` of them, spread over all, first and last among them."""
    if len(items) <= count:
        return items
    return [items[round(at * (len(items) - 1) / (count - 1))] for at in range(count)]
