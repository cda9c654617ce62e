"""Making a summary of notes: by the built-in extract, or by a command of the user's (`summarizer.command`)."""

from __future__ import annotations

import shlex
import subprocess
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nebula import reasons
from nebula.errors import NebulaError, short
from nebula.life.digest import extract, sentences
from nebula.reasons import because
from nebula.results import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory

TIMEOUT = 120.0  # seconds that a user's command may take
LONGEST = 4_000  # characters of a summary that a user's command gives


@dataclass(frozen=True)
class Digest:
    """A summary's text, empty where none could be made, and what a person should know of it."""

    text: str
    notices: Sequence[Notice] = ()


def digest(mind: Mind, notes: Sequence[Memory]) -> Digest:
    """One text for many notes; a command that fails leaves the notes unsummarised and says so."""
    command = mind.settings.summarizer.command.strip()
    if command:
        return _by_command(command, "".join(f"{note.at} {note.text}\n" for note in notes))
    parts = sentences([note.text for note in notes])
    return Digest(extract(parts, _vectors(mind, parts)))


def _vectors(mind: Mind, parts: Sequence[str]) -> list[Mapping[object, float]]:
    """Meaning where the encoder works, else the words; a digest of words is still one."""
    from nebula.text import words

    try:
        encoded = mind.encoder().encode(list(parts))
    except NebulaError:
        return [dict(Counter(words.tokens(part, "full"))) for part in parts]
    rows: dict[int, Mapping[object, float]] = {}
    for vector, owner in zip(encoded.vectors.tolist(), encoded.owner.tolist(), strict=True):
        rows.setdefault(owner, dict(enumerate(vector)))
    return [rows[at] for at in range(len(parts))]


def _by_command(command: str, notes: str) -> Digest:
    try:
        words = shlex.split(command)
        done = subprocess.run(words, input=notes.encode(), capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return _failed(because("later", seconds=f"{TIMEOUT:g}"))
    except ValueError:
        return _failed(because("quotes"))
    except OSError as error:
        return _failed(reasons.of(error))
    if done.returncode:
        return _failed(reasons.ended(done.returncode, done.stderr))
    text = done.stdout.decode("utf-8", "replace").strip()
    if not text or len(text) > LONGEST:
        return _failed(because("long_answer", n=len(text), limit=LONGEST) if text else because("no_answer"))
    return Digest(text)


def _failed(reason: str) -> Digest:
    return Digest("", [Notice("not_summarised", {"reason": short(reason.strip(), 120)})])
