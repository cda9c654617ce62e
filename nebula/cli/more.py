"""What stands around a memory: more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula.cli import options, printing
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome, one_line
from nebula.cli.recall import memory_line
from nebula.cli.remember import shown

if TYPE_CHECKING:
    from nebula.cli.printing import Line
    from nebula.mindlib.record import Memory
    from nebula.more import Neighbour


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    command(app, "more", anywhere=True)(more)


def more(
    run: Run,
    ref: Annotated[str, typer.Argument(metavar="REF")],
    *,
    limit: options.Limit = 8,
    turns: Annotated[int, typer.Option("--turns", metavar="N", min=0, max=1000)] = 3,
    null: options.Null = False,
) -> Outcome:
    """A memory with the turns of its session around it, and its neighbours with the reason of each edge."""
    from nebula import more as around

    found = around.more(run.mind(), ref, limit, turns)
    session = [*found.before, found.memory, *found.after]
    blocks = [[_turn_line(one, asked=one is found.memory)] for one in session]
    blocks += [_neighbour_lines(one) for one in found.neighbours]
    lines = [printing.joined(block) for block in blocks] if null else [line for block in blocks for line in block]
    data = {
        "memory": shown(found.memory),
        "before": [shown(one) for one in found.before],
        "after": [shown(one) for one in found.after],
        "neighbours": [_neighbour_object(one) for one in found.neighbours],
    }
    refs = [one.ref for one in [*session, *(one.memory for one in found.neighbours)]]
    return Outcome(data, lines, notices=found.notices, refs=refs, null=null, long=True)


def _turn_line(memory: Memory, *, asked: bool) -> Line:
    """`▶ n12   2026-11-13 事实 text`: the one asked for marked, the others as turns around it, with who spoke."""
    speaker = [(f"{one_line(memory.speaker)}: ", "dim")] if memory.speaker else []
    *head, text = memory_line(memory)
    return [("▶ " if asked else "  ", "bold"), *head, *speaker, text]


def _neighbour_lines(neighbour: Neighbour) -> list[Line]:
    """`  2.50 n7 … text`, and below it why."""
    reasons: list[Line] = [[(f"         {one_line(reason)}", "dim")] for reason in neighbour.reasons]
    return [[(f"  {neighbour.weight:.2f} ", "cyan"), *memory_line(neighbour.memory)], *reasons]


def _neighbour_object(neighbour: Neighbour) -> dict[str, Any]:
    return {**shown(neighbour.memory), "edges": list(neighbour.reasons), "edge_weight": round(neighbour.weight, 6)}
