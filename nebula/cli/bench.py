"""The commands bench …: how well this program recalls, measured on sets of queries with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.address import Address, is_address
from nebula.cli import options, progress
from nebula.cli.command import Run, command, overrides
from nebula.cli.printing import Outcome, one_line
from nebula.errors import BadValue

if TYPE_CHECKING:
    from nebula.bench.metrics import Figure
    from nebula.bench.recall import Places, Table
    from nebula.cli.printing import Line


Folder = Annotated[Path, typer.Argument(metavar="FOLDER")]
On = Annotated[str, typer.Option("--on", metavar="URL", show_default=False)]
Rankings = Annotated[Path | None, typer.Option("--rankings", metavar="OUT.jsonl")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="bench")
    group.callback()(_bench)
    command(group, "recall")(recall)


def _bench() -> None:
    """Keep the group a group while it has one command."""


def recall(
    run: Run,
    folder: Folder,
    rankings: Rankings = None,
    on: On = "",
    profile: options.Profile = "",
    set_: options.SetValues = None,
) -> Outcome:
    """Score recall on a set, per route and fused. The mind in use is not touched: the set has minds of its own."""
    from nebula.bench import recall as bench

    run.now()  # a wrong --now is refused before anything is done
    with progress.bar(run, messages.say("progress.asking")) as advance:
        table = bench.run(folder, overrides(profile, set_), advance, places=_places(run, on), now=run.now)
    if rankings is not None:
        _write(rankings, table)
    return Outcome(_object(table), _lines(folder, table))


def _places(run: Run, on: str) -> Places:
    from nebula.bench import recall as bench

    if not on:
        return bench.temporary
    if not is_address(on):
        raise BadValue("--on", on, "postgresql://OWNER@HOST/DATABASE")
    from nebula.postgres import scratch

    return lambda: scratch.database(Address(on), run.lock_timeout)


def _write(path: Path, table: Table) -> None:
    from nebula.mindlib import files, ledger

    files.replace(path, ledger.dump(table.rankings), durable=False)


def _object(table: Table) -> dict[str, Any]:
    rows = {
        route: {name: {"mean": f.mean, "low": f.low, "high": f.high} for name, f in row.items()}
        for route, row in table.rows.items()
    }
    half, most = table.milliseconds
    counts = {"queries": table.queries, "memories": table.memories, "subjects": table.subjects}
    times = {"milliseconds": {"median": half, "p95": most}}
    return {**counts, "rows": rows, **times, "unknown_emo": dict(table.unknown_emo)}


def _lines(folder: Path, table: Table) -> list[Line]:
    said = messages.say("bench.head", queries=table.queries, memories=table.memories)
    names = "".join(f"{name:<{_WIDTH}}" for name in next(iter(table.rows.values())))
    lines: list[Line] = [[(f"{folder.resolve().name}  {said}", "bold")], [(" " * 5 + names.rstrip(), "dim")]]
    for route, row in table.rows.items():
        cells = "".join(f"{_cell(figure):<{_WIDTH}}" for figure in row.values())
        lines.append([(_LABELS[route], "magenta"), (cells.rstrip(), "")])
    lines.append([(messages.say("bench.time", ms=f"{table.milliseconds[0]:.1f}"), "")])
    if table.unknown_emo:
        words = ", ".join(f"{one_line(emo)} ×{count}" for emo, count in table.unknown_emo.items())
        lines.append([(messages.say("bench.unknown_emo", words=words), "dim")])
    return lines


_WIDTH = 21
#: As hits are labelled, five columns wide; a Han character takes two. The last row is what recall answers with.
_LABELS = {"lexical": "词   ", "dense": "义   ", "graph": "图   ", "fused": "=    "}


def _cell(figure: Figure) -> str:
    return f"{figure.mean:.3f} [{figure.low:.3f},{figure.high:.3f}]"
