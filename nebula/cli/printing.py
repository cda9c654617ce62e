"""What a person or a program sees: one JSON document, plain lines in a pipe, coloured lines on a terminal.

Stored text is data: no markup, no control or direction characters reach a terminal (design, Untrusted text).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
from dataclasses import field
from typing import TYPE_CHECKING, Any, TextIO

from nebula import messages
from nebula.cli import folding
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.results import Notice

    #: Stretches of one line with the style that a terminal gives them.
    Line = Sequence[tuple[str, str]]

#: Lone surrogates, C0, DEL, C1, line separators, and characters that change the direction of what follows.
_UNSAFE = re.compile(
    "[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_BREAKS = re.compile(r"[\n\t\r\u2028\u2029\x85\x0b\x0c]+")
#: The style of a stretch that is put in one line, and shortened where that is wider than the terminal.
FIT = "none"
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
    #: Objects to print one a line instead of everything else.
    rows: Sequence[Mapping[str, Any]] | None = None
    #: Refs that @1, @2 … name from now on; None leaves them as they were.
    refs: Sequence[str] | None = None
    #: Whether each line ends in NUL and has its texts whole.
    null: bool = False
    #: Whether a pager helps where it does not fit a terminal.
    long: bool = False
    #: Whether the lines are a document to copy or to run: they are never broken to a terminal's width.
    verbatim: bool = False


def joined(lines: Sequence[Line]) -> Line:
    """Lines that belong together as one, broken inside: a record of NUL-separated output."""
    return [part for at, line in enumerate(lines) for part in ([("\n", ""), *line] if at else line)]


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


def pager(environ: Mapping[str, str]) -> list[str]:
    """The command that shows long text: PAGER, else `less -FIRX`; empty where there is none, or PAGER is cat or empty.

    None for a terminal that understands no escapes, or one that was asked to show none: pagers send them.
    """
    if environ.get("TERM") in {None, "", "dumb"} or environ.get("NO_COLOR"):
        return []
    import shlex

    try:
        words = shlex.split(environ.get("PAGER", "less -FIRX"))
    except ValueError:  # a quote that is never closed
        return []
    return words if words and words[0] != "cat" and shutil.which(words[0]) else []


def wrapped(text: str, indent: str = "", stream: TextIO | None = None) -> list[str]:
    """A sentence as the lines that fit the terminal, each after `indent`; in a pipe one line, however long.

    `stream`: where it is to be printed, stdout if None.
    """
    flat = one_line(text)
    if not (stream or sys.stdout).isatty():
        return [indent + flat]
    return folding.broken(flat, folding.columns(), first=indent, then=indent)


def show_null(lines: Sequence[Line]) -> None:
    """Print lines on stdout, each ended by NUL, texts whole with their line breaks; for programs."""
    sys.stdout.write("".join("".join(clean(text) for text, _ in line) + "\0" for line in lines))


def show_lines(lines: Sequence[Line], *, colour: bool, pager: Sequence[str] = (), verbatim: bool = False) -> None:
    """Print lines on stdout; into a terminal each is fitted to the width, and a pager shows them if there is one.

    `verbatim`: no line is broken by us.
    """
    terminal = sys.stdout.isatty()
    safe: list[Line] = [
        [(one_line(text) if style == FIT else clean(text), style) for text, style in line] for line in lines
    ]
    if terminal:
        width = folding.columns()
        safe = [_fitted(line, width) for line in safe]
        if not verbatim:
            safe = [part for line in safe for part in folding.folded(line, width)]
    text = _coloured(safe) if colour else "".join("".join(part for part, _ in line) + "\n" for line in safe)
    show_page(text, pager)


def show_page(text: str, pager: Sequence[str]) -> None:
    """Print a text on stdout; where it does not fit a terminal, through the pager if there is one."""
    if not (pager and sys.stdout.isatty() and text.count("\n") >= shutil.get_terminal_size().lines):
        sys.stdout.write(text)
        return
    import signal
    import subprocess

    charset = {"LESSCHARSET": "utf-8"} if sys.stdout.encoding.lower().replace("-", "") == "utf8" else {}
    with subprocess.Popen(pager, stdin=subprocess.PIPE, env={**charset, **os.environ, "LESSHISTFILE": "-"}) as shown:
        # Ctrl-C is the pager's: ended with us, it would leave the terminal as it had set it
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            shown.communicate(text.encode(sys.stdout.encoding, "replace"))
        finally:
            signal.signal(signal.SIGINT, before)


def _fitted(line: Line, width: int) -> list[tuple[str, str]]:
    """The line with its FIT stretch shortened openly to what the width leaves; Chinese counts double."""
    from rich.cells import cell_len, set_cell_size

    over = sum(cell_len(text) for text, _ in line) - width
    fitted = []
    for text, style in line:
        room = max(cell_len(text) - over - 1, 5)
        cut = over > 0 and style == FIT and room < cell_len(text)
        fitted.append((set_cell_size(text, room).rstrip() + "…" if cut else text, style))
    return fitted


def _coloured(lines: Sequence[Line]) -> str:
    """The lines with the escape sequences of their styles, never wrapped here."""
    from rich.color import ColorSystem
    from rich.style import Style

    def painted(text: str, style: str) -> str:
        return Style.parse(style or "none").render(text, color_system=ColorSystem.STANDARD)

    return "".join("".join(painted(*part) for part in line) + "\n" for line in lines)


def show_json(document: Mapping[str, Any]) -> None:
    """Print one document in UTF-8 whatever the console's encoding."""
    _write_utf8(_dumped(document, indent=True))


def show_jsonl(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one object a line."""
    _write_utf8(b"".join(_dumped(row, indent=False) for row in rows))


def _dumped(document: Mapping[str, Any], *, indent: bool) -> bytes:
    import orjson

    option = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(document, option=option)
    except TypeError:  # a path or a text that is no UTF-8: escaped, as JSON can
        return (json.dumps(document, indent=2 if indent else None, default=str) + "\n").encode()


def _write_utf8(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def show_notices(notices: Sequence[Notice]) -> None:
    """One line each on stderr."""
    for notice in notices:
        tell(messages.told(notice.code, notice.facts))


def tell(sentence: str) -> None:
    """A sentence on stderr: a line, or on a terminal as many as it takes; where there is no room for it, none."""
    with contextlib.suppress(OSError):
        sys.stderr.write("\n".join(wrapped(sentence, stream=sys.stderr)) + "\n")
