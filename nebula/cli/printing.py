"""What a person or a program sees: one JSON document, plain lines in a pipe, coloured lines on a terminal.

Stored text is data: no markup, no control or direction characters reach a terminal (design, Untrusted text).
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from nebula import messages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.mind import Notice

    #: Stretches of one line with the style that a terminal gives them.
    Line = Sequence[tuple[str, str]]

#: C0, DEL, C1, line separators, and characters that change the direction of what follows.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_BREAKS = re.compile(r"[\n\t\r\u2028\u2029\x85\x0b\x0c]+")
PIPE_LIMIT = 2000  # characters of a text in one line of a pipe; shortened openly beyond


@dataclass(frozen=True)
class Outcome:
    """What a command has to show: data for JSON, lines for people, the exit code, and notices for stderr."""

    data: Any
    lines: Sequence[Line] = ()
    code: int = 0
    notices: Sequence[Notice] = field(default_factory=tuple)
    #: What only a person at a terminal is told, e.g. the next command.
    hints: Sequence[str] = ()


def clean(text: str) -> str:
    """Text as it may be printed over several lines: nothing in it steers a terminal."""
    return _UNSAFE.sub("", text)


def one_line(text: str, limit: int = PIPE_LIMIT) -> str:
    """Text in one line, shortened openly."""
    flat = clean(_BREAKS.sub(" ", text))
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def wants_colour(stream: TextIO, environ: Mapping[str, str], *, no_color: bool) -> bool:
    """Each stream judged alone: NO_COLOR, TERM=dumb, --no-color, FORCE_COLOR, else whether it is a terminal."""
    if no_color or environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    forced = environ.get("FORCE_COLOR")
    return forced not in {"0", "false"} if forced else stream.isatty()


def show_lines(lines: Sequence[Line], *, colour: bool) -> None:
    """Print lines on stdout."""
    if not colour:
        for line in lines:
            sys.stdout.write("".join(text for text, _ in line) + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False, force_terminal=True)
    for line in lines:
        console.print(Text.assemble(*line), soft_wrap=not sys.stdout.isatty())


def show_json(document: Mapping[str, Any]) -> None:
    """Print one document in UTF-8 whatever the console's encoding."""
    import orjson

    data = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
    _write_utf8(data)


def show_jsonl(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one object a line."""
    import orjson

    _write_utf8(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))


def _write_utf8(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def show_notices(notices: Sequence[Notice]) -> None:
    """One line each on stderr."""
    for notice in notices:
        tell(messages.say(f"notice.{notice.code}", **notice.facts))


def tell(sentence: str) -> None:
    """A line on stderr."""
    sys.stderr.write(one_line(sentence) + "\n")


def environment() -> Mapping[str, str]:
    """The process's environment, as the door reads it."""
    return os.environ
