"""Lines broken to a terminal's width: at spaces and between wide characters, words of other scripts and commands whole.

Columns are counted as a terminal does, Chinese double. Nothing here prints; a pipe is never folded.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nebula.cli.printing import Line

NARROWEST = 16  # columns; on less nothing can be shown
#: All scripts before the wide ones. (A class of the wide ones takes 7 ms to compile, character by character.)
_NARROW = "\\x00-\u2e7f"
#: Where a line may be broken: after a space, and around each wide character but before closing signs.
_PARTS = re.compile(rf"\s+|[^{_NARROW}][，。；：！？、）」”]*|(?:(?!\s)[{_NARROW}])+\s*")
#: An example of help: a command stays in one line, so that it can be copied and run.
_COMMAND = re.compile(r"\s*(?:\$ )?(?:nebula|\S+ \| nebula)\b")
#: A row of help's two columns: a name, at least two spaces, what it means; not a row of names alone.
_ROW = re.compile(r"( *\S(?:.*?\S)? {2,})(?![a-z-]+ {2}[a-z])\S")


def columns() -> int:
    """The terminal's width."""
    return max(NARROWEST, shutil.get_terminal_size().columns)


def broken(text: str, width: int, *, first: str = "", then: str | None = "") -> list[str]:
    """A text's lines of at most `width` columns; `first` stands before the first; `then` as in folded."""
    return ["".join(part for part, _ in line) for line in folded([(first + text, "")], width, then)]


def folded(line: Line, width: int, then: str | None = None) -> list[Line]:
    """A line's stretches in lines of at most `width` columns, a word that is wider alone excepted.

    Before each but the first stands `then`; without it, as many spaces as the first begins with, or two.
    """
    from rich.cells import cell_len

    text = "".join(part for part, _ in line)
    if cell_len(text) <= width:
        return [line]
    if then is None:
        then = " " * (min(len(text) - len(text.lstrip(" ")), width // 2) or 2)
    lines: list[list[tuple[str, str]]] = [[]]
    used = 0
    for part, style in ((part, style) for stretch, style in line for part in _PARTS.findall(stretch)):
        if used + cell_len(part.rstrip()) > width and "".join(one for one, _ in lines[-1]).strip():
            lines.append([(then, "")])
            used = cell_len(then)
        if part.strip() or len(lines) == 1 or len(lines[-1]) > 1:  # a blank at a break is no indent
            lines[-1].append((part, style))
            used += cell_len(part)
    return [_joined(one) for one in lines if len(one) > 1 or one[0] != (then, "")]


def _joined(line: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbours of one style as one stretch, and no blanks at the end."""
    found: list[tuple[str, str]] = []
    for part, style in line:
        if found and found[-1][1] == style:
            found[-1] = (found[-1][0] + part, style)
        else:
            found.append((part, style))
    found[-1] = (found[-1][0].rstrip(), found[-1][1])
    return found


def page(text: str, width: int) -> str:
    """A page of help whose lines were not broken yet; what follows a name is broken under itself."""
    return "\n".join(line for given in text.split("\n") for line in _page_line(given, width))


def _page_line(text: str, width: int) -> list[str]:
    from rich.cells import cell_len

    if cell_len(text) <= width or _COMMAND.match(text):
        return [text]
    row = _ROW.match(text)
    if row is None:
        return broken(text, width, then=None)
    name, said = row[1], text[row.end(1) :]
    if cell_len(name) <= width // 2:
        return broken(said, width, first=name, then=" " * cell_len(name))
    return [*broken(name.strip(), width, first="  ", then="    "), *broken(said, width, first=" " * 6, then=" " * 6)]
