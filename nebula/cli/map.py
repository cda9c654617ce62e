"""The sky: map (one HTML file) and sky (in the terminal)."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation when it builds the command
from typing import TYPE_CHECKING, Annotated

import typer

from nebula import messages
from nebula.cli.command import Run, command
from nebula.cli.printing import FIT, Outcome
from nebula.results import Notice

if TYPE_CHECKING:
    from nebula.cli.printing import Line
    from nebula.mind import Mind
    from nebula.starmap.page import Sky


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    command(app, "map", anywhere=True)(map_)
    command(app, "sky", anywhere=True)(sky)


def map_(
    run: Run,
    *,
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE")] = None,
    open_: Annotated[bool, typer.Option("--open")] = False,
    png: Annotated[Path | None, typer.Option("--png", metavar="FILE")] = None,
) -> Outcome:
    """Draw the star map: one HTML file, nothing loaded from anywhere; or with --png a picture instead."""
    from nebula import maps
    from nebula.starmap.page import render

    if png is not None:
        return _picture(run, png)

    if str(out) == "-":
        page = render(maps.sky(run.mind()))
        return Outcome({"html": page.decode()}, [[(line, "")] for line in page.decode().split("\n")[:-1]])
    mind = run.mind()
    path, page, found = maps.draw(mind, out)
    if open_:
        typer.launch(str(path))
    data = {"file": str(path), "bytes": len(page), "stars": len(found.stars), "edges": len(found.edges)}
    told = messages.say("map.drawn", stars=len(found.stars), edges=len(found.edges), size=f"{len(page) / 1024:.1f}KB")
    hints = [messages.say("hint.after_map", path=path)]
    return Outcome(data, [[(str(path), FIT)], [(told, "dim")]], notices=_nothing(mind, found), hints=hints)


def _nothing(mind: Mind, found: Sky) -> list[Notice]:
    """A notice where there is no star to be drawn."""
    return [] if found.stars else [Notice("no_memories_here", {"place": mind.place})]


def _picture(run: Run, path: Path) -> Outcome:
    from nebula import maps
    from nebula.mindlib import files
    from nebula.starmap import picture

    mind = run.mind()
    found = maps.sky(mind, explained=False)
    data = picture.render(found)
    files.replace(path, data)
    shown = {"file": str(path), "bytes": len(data), "stars": len(found.stars), "edges": len(found.edges)}
    return Outcome(shown, [[(str(path), FIT)]], notices=_nothing(mind, found))


def sky(run: Run, *, days: Annotated[int, typer.Option("--days", metavar="N", min=0, max=3650)] = 0) -> Outcome:
    """The sky in the terminal, now or some days ahead."""
    from nebula import maps
    from nebula.starmap import terminal

    found = maps.sky(run.mind(), edges=False)
    size = shutil.get_terminal_size() if sys.stdout.isatty() else None
    width = min(size.columns, 2 * (size.lines - 4)) if size else 72
    lines: list[Line] = list(terminal.rows(found.stars, width, days))
    counts = {kind: sum(star.kind == kind for star in found.stars) for kind in terminal.COLOURS}
    legend: Line = [
        (f"✦ {found.words[kind]} {count}  ", terminal.COLOURS[kind]) for kind, count in counts.items() if count
    ]
    if not found.stars:
        return Outcome({"now": found.now, "stars": []}, [[(messages.say("map.empty"), "")]])
    rows = [
        {"ref": star.ref, "kind": star.kind, "x": star.x, "y": star.y, "r": star.r, "a": terminal.light(star, days)}
        for star in found.stars
    ]
    return Outcome({"now": found.now, "stars": rows}, [*lines, legend])
