"""The command bench: how well recall finds what it should."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nebula import messages
from nebula.cli import options, progress
from nebula.cli.command import Run, command, overrides
from nebula.cli.printing import Outcome

if TYPE_CHECKING:
    from nebula.bench.recall import Outcome as Measured
    from nebula.cli.printing import Line


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="bench")
    command(group, "recall")(recall)


def recall(
    run: Run,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER")],
    rankings: Annotated[Path | None, typer.Option("--rankings", metavar="OUT.jsonl")] = None,
    profile: options.Profile = "",
    set_: options.SetValues = None,
) -> Outcome:
    """Fill a throw-away mind from a set and ask it every query."""
    from nebula.bench.recall import run as measure
    from nebula.mindlib import files, ledger

    with progress.bar(run, messages.say("progress.asking")) as advance:
        measured = measure(folder, overrides(profile, set_), advance)
    if rankings is not None:
        lines = ledger.dump({"qid": qid, "ids": ids} for qid, ids in measured.rankings.items())
        files.replace(rankings, lines)
    table = {
        route: {name: [round(x, 4) for x in (e.mean, e.low, e.high)] for name, e in by_metric.items()}
        for route, by_metric in measured.table.items()
    }
    data = {
        "queries": measured.queries,
        "memories": measured.memories,
        "table": table,
        "seconds_per_query": round(measured.seconds, 5),
    }
    return Outcome(data, _table(measured))


LABELS = {"lexical": "词", "dense": "义", "graph": "图", "fused": "词+义+图"}


def _table(measured: Measured) -> list[Line]:
    names = list(next(iter(measured.table.values())))
    head = messages.say("bench.head", queries=measured.queries, memories=measured.memories)
    lines: list[Line] = [[(head, "bold")], [(" " * 10 + "".join(f"{name:>22}" for name in names), "dim")]]
    for route, by_metric in measured.table.items():
        label = LABELS[route]
        cells = "".join(f"{f'{e.mean:.3f} [{e.low:.3f} {e.high:.3f}]':>22}" for e in by_metric.values())
        pad = " " * (10 - len(label) - sum(ord(c) > 0x2E80 for c in label))
        lines.append([(label + pad, "cyan"), (cells, "")])
    return [*lines, [(messages.say("bench.time", ms=f"{measured.seconds * 1000:.1f}"), "dim")]]
