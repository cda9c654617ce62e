"""A trial of the walls: a copy of the project gets a canary into every file, then every way out is looked through.

The copy lies in a temporary folder, its vectors are drawn from the characters: no model is asked, nothing is sent.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nebula.mindlib import ledger, scratch
from nebula.subject import recall, saving
from nebula.subject.cast import index_path
from nebula.subject.files import EVENTS, MEMORY, MIND, SIX, SOUL, STATE, SUBJECT, history
from nebula.subject.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 64
#: What an actor may be told of its own files; subject.md and soul.md go through `show` and `soul` alone.
OPEN = (EVENTS, MEMORY, MIND, STATE)


class Drawn:
    """Vectors of character pairs, hashed: near for texts that share any."""

    name = ("leak-test", "pairs", DIMENSIONS)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """[n, 64], norm 1."""
        import zlib

        import numpy as np

        found = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in enumerate(texts):
            for at in range(max(1, len(text) - 1)):
                found[row, zlib.crc32(text[at : at + 2].encode("utf-8", "replace")) % DIMENSIONS] += 1
        unit: NDArray[np.float32] = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return unit


@dataclass(frozen=True)
class Crossing:
    """A canary of one subject's file that came out where it must not."""

    planted_in: str
    came_out: str


@dataclass(frozen=True)
class Trial:
    """How many subjects, canaries and ways out were tried, and what crossed."""

    subjects: int
    canaries: int
    ways: int
    crossings: Sequence[Crossing]


def run(project: Project, now: datetime) -> Trial:
    """Try the walls of a project. Raises FileUnusable, WriteFailed; the project itself is only read."""
    with scratch.folder(scratch.LEAK) as (folder, _), project.reading() as place:
        copy = Project(folder)
        for name, found in place.folders().items():
            (copy.subjects / name).mkdir(parents=True)
            for page in SIX:
                if (found / page).is_file() and not (found / page).is_symlink():
                    shutil.copyfile(found / page, copy.subjects / name / page)
        canaries = {name: _plant(copy.subjects / name) for name in copy.folders()}
        outputs = [(name, way, text) for name in canaries for way, text in _ways(copy, name, canaries, now)]
        crossings = [crossing for output in outputs for crossing in _crossings(*output, canaries)]
        stored = index_path(copy).read_bytes() if index_path(copy).is_file() else b""
        crossings += [
            Crossing(f"{name}/{page}", index_path(copy).name)
            for name, planted in canaries.items()
            for page in (SUBJECT, SOUL)
            if planted[page].encode() in stored
        ]
    return Trial(len(canaries), sum(map(len, canaries.values())), len(outputs), crossings)


def _plant(folder: Path) -> dict[str, str]:
    """A canary at the end of each of the six files; file -> canary, which no other text holds."""
    import uuid

    planted = {}
    for page in SIX:
        canary = f"金丝雀{uuid.uuid4().hex}"
        line: Mapping[str, Any] = {"text": canary} if page == EVENTS else {"topic": canary, "view": canary}
        data = ledger.dump([line]) if page in {EVENTS, MEMORY} else f"\n{canary}。\n".encode()
        with (folder / page).open("ab+") as file:
            file.seek(0, 2)
            file.write(b"\n" + data)
        planted[page] = canary
    return planted


def _ways(
    project: Project, subject: str, canaries: Mapping[str, Mapping[str, str]], now: datetime
) -> Iterator[tuple[str, str]]:
    """(way, what comes out by it), asked for by the very canaries of everyone."""
    asker = recall.Asker(project, subject, Drawn(), now)
    for planted in canaries.values():
        for canary in planted.values():
            yield "search", repr([_told(hit) for hit in recall.find(asker, canary, limit=20)])
            yield "context", recall.context(asker, canary, budget=20_000)
    with saving.held(project, subject, now) as actor:
        lived = actor.lived()
        yield "memory show", repr([asdict(view) for view in lived.views])
        yield "memory history", repr(history(actor.folder))
        yield "events", repr([asdict(event) for event in lived.events])


def _told(hit: Any) -> dict[str, Any]:
    return {**vars(hit), "ranks": dict(hit.ranks)}


def _crossings(subject: str, way: str, text: str, canaries: Mapping[str, Mapping[str, str]]) -> Iterator[Crossing]:
    for owner, planted in canaries.items():
        for page, canary in planted.items():
            if canary in text and not (owner == subject and page in OPEN):
                yield Crossing(f"{owner}/{page}", f"{way} {subject}")
