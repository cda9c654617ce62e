"""The mood: mood, mood feel, read, history, scan, source."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import clock, messages
from nebula.cli import options  # noqa: TC001 - typer reads the annotation when it builds the command
from nebula.cli.command import Run, bare, command
from nebula.cli.printing import FIT, Outcome, one_line
from nebula.errors import BadValue, WrongUsage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.cli.printing import Line
    from nebula.mood.expression import Feeling

#: A dimension's colour on a terminal.
COLOURS = {
    "happy": "yellow",
    "calm": "green",
    "sweet": "magenta",
    "heartache": "red",
    "worry": "cyan",
    "sad": "blue",
    "jealous": "bright_green",
}
#: Of another program's document, what a map may name.
FIELDS = ("value", "dims", "label", "reason")
WIDTH, NARROWEST, BESIDE = 20, 6, 34  # cells of a bar, of the narrowest one, and of what stands around it
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer()
    app.add_typer(group, name="mood")
    bare(group, anywhere=True)(mood)
    for name, body in (("feel", feel), ("read", read), ("history", history), ("scan", scan), ("source", source)):
        command(group, name, anywhere=True)(body)


def mood(run: Run) -> Outcome:
    """How it feels now, and why."""
    return _shown(run.mind().mood())


def _shown(felt: Feeling) -> Outcome:
    return Outcome(feeling_object(felt), feeling_lines(felt))


def feel(
    run: Run,
    dim: Annotated[str, typer.Argument(metavar="DIM")],
    strength: Annotated[float, typer.Argument(metavar="0…1")],
    *,
    why: Annotated[str, typer.Option("--why", metavar="TEXT")] = "",
) -> Outcome:
    """Something was felt: a dimension and how strongly."""
    from nebula import moods

    felt, notices = moods.feel(run.mind(), dim, strength, why)
    return Outcome(feeling_object(felt), feeling_lines(felt), notices=notices)


def read(run: Run, text: Annotated[str, typer.Argument(metavar="TEXT|-")]) -> Outcome:  # noqa: ARG001 - no mind is asked
    """What the lexicon hears in a text."""
    from nebula.cli.recall import query_text
    from nebula.mood import lexicon

    heard = lexicon.hear(query_text(text))
    name, strength = lexicon.dominant(heard)
    data = {"dims": dict(heard.dims), "words": list(heard.words), "dominant": name, "strength": strength}
    lines = [_bar_line(dim, level, COLOURS[dim]) for dim, level in heard.dims.items()]
    if heard.words:
        lines.append([(one_line("  ".join(heard.words)), "dim")])
    return Outcome(data, lines or [[(messages.say("mood.nothing_heard"), "")]], 0 if heard.words else 1)


def history(run: Run, *, since: options.Since = "") -> Outcome:
    """How it was: a line of small bars for each dimension."""
    from nebula import moods

    start = run.moment("--since", since) or run.now() - timedelta(days=1)
    room = moods.POINTS if run.json else min(moods.POINTS, max(8, shutil.get_terminal_size().columns - 12))
    found = moods.history(run.mind(), start, room)
    rows = [feeling_object(felt) for felt in found]
    lines: list[Line] = [
        [
            (_padded(messages.say(f"dim.{dim}"), 10), COLOURS[dim]),
            (_spark([felt.dims[dim] for felt in found]), COLOURS[dim]),
        ]
        for dim in COLOURS
        if any(felt.dims[dim] >= 0.01 for felt in found)
    ]
    lines.append([(_padded(messages.say("mood.gauge"), 10), ""), (_spark([felt.value / 100 for felt in found]), "")])
    lines.append([(f"{clock.write(start)} … {clock.write(run.now())}", "dim")])
    return Outcome({"history": rows}, lines)


def scan(run: Run) -> Outcome:
    """Mood files of other programs on this machine, and what they seem to say."""
    from nebula import places
    from nebula.mood.scan import scan as search

    found = search(places.home(run.environ), run.environ)
    data = [
        {"path": str(f.path), "map": dict(f.map), "value": f.reading.value, "dims": dict(f.reading.dims)} for f in found
    ]
    lines: list[Line] = [
        [(one_line(str(f.path)), FIT), (f"  {f.reading.value:.0f}  {_map(f.map)}", "dim")] for f in found
    ]
    hints = [messages.say("hint.after_scan", path=found[0].path)] if found else []
    none: list[Line] = [[(messages.say("mood.none_found"), "")]]
    return Outcome({"found": data}, lines or none, 0 if found else 1, hints=hints)


def source(
    run: Run,
    kind: Annotated[str, typer.Argument(metavar="builtin|file|http")],
    place: Annotated[str | None, typer.Argument(metavar="[PATH|URL]", show_default=False)] = None,
    *,
    map_: Annotated[list[str] | None, typer.Option("--map", metavar="NAME=JSONPATH")] = None,
) -> Outcome:
    """Where the mood comes from."""
    from nebula import moods

    if (kind == "builtin") != (place is None) or kind not in {"builtin", "file", "http"}:
        raise WrongUsage("mood source builtin | mood source file PATH | mood source http URL", "words")
    pairs = {}
    for item in map_ or []:
        name, _, path = item.partition("=")
        if name.strip() not in FIELDS or not path.strip():
            raise BadValue("--map", item, " | ".join(f"{field}=$.…" for field in FIELDS))
        pairs[name.strip()] = path.strip()
    where = str(Path(place).expanduser().absolute()) if kind == "file" and place else place or ""
    return _shown(moods.choose(run.mind(), kind, where, pairs))


def feeling_object(felt: Feeling) -> dict[str, Any]:
    """A mood as JSON shows it: the normalised shape (spec 7), and the built-in engine's own values."""
    return {
        "value": felt.value,
        "dims": dict(felt.dims),
        "label": felt.label,
        "reason": felt.reason,
        "source": felt.source,
        "stale": felt.stale,
        "at": felt.at,
        "expression": dict(felt.expression),
        "transmitters": dict(felt.levels),
        "surface": dict(felt.surface),
        "underlying": dict(felt.underlying),
        "unresolved": felt.unresolved,
    }


def feeling_lines(felt: Feeling) -> list[Line]:
    """Gauge, name and source; dimensions with both layers; expression; transmitters; why."""
    label = _label(felt)
    badge = f"{felt.source}{' ' + messages.say('mood.stale') if felt.stale else ''}"
    lines: list[Line] = [
        [
            (f"{felt.value:3.0f} ", "bold"),
            *_bar(felt.value / 100, COLOURS.get(felt.dominant, "")),
            (f"  {label}", "bold"),
            (f"  [{badge}]", "red" if felt.stale else "dim"),
        ]
    ]
    lines += [_bar_line(dim, felt.dims.get(dim, 0.0), COLOURS[dim], _layers(felt, dim)) for dim in COLOURS]
    lines += [_bar_line(name, level, "") for name, level in felt.expression.items()]
    lines += [_level_line(name, level) for name, level in felt.levels.items()]
    if felt.unresolved:
        lines.append([(messages.say("mood.unresolved"), "yellow")])
    if felt.reason:
        lines.append([(messages.say("mood.why"), "dim"), (one_line(felt.reason), FIT)])
    return lines


def _label(felt: Feeling) -> str:
    if felt.label in COLOURS:
        return messages.say(f"dim.{felt.label}")
    return one_line(felt.label) or messages.say("mood.ground")


def _layers(felt: Feeling, dim: str) -> str:
    if not felt.surface:
        return ""
    return (
        f"  {messages.say('mood.layers', surface=f'{felt.surface[dim]:.2f}', underlying=f'{felt.underlying[dim]:.2f}')}"
    )


def _bar_line(name: str, level: float, colour: str, more: str = "") -> Line:
    return [(_padded(messages.say(f"dim.{name}"), 14), ""), *_bar(level, colour), (f" {level:.2f}", ""), (more, "dim")]


def _level_line(name: str, level: float) -> Line:
    return [(_padded(messages.say(f"dim.{name}"), 14), "dim"), *_bar(level / 100, "dim"), (f" {level:.0f}", "dim")]


def _padded(text: str, cells: int) -> str:
    from rich.cells import set_cell_size

    return set_cell_size(text, cells)


def _bar(share: float, colour: str) -> Line:
    width = min(WIDTH, max(NARROWEST, shutil.get_terminal_size().columns - BESIDE))
    full = round(width * min(1.0, max(0.0, share)))
    return [("█" * full, colour), ("░" * (width - full), "dim")]


def _spark(shares: Sequence[float]) -> str:
    return "".join(_EIGHTHS[round(8 * min(1.0, max(0.0, share)))] for share in shares)


def _map(paths: Mapping[str, str]) -> str:
    return " ".join(f"{name}={path}" for name, path in paths.items())
