"""Commands of the night and of what comes up after it: consolidate, surface, yes, no."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation when it builds the command
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli import options, progress
from nebula.cli.command import Run, command
from nebula.cli.printing import FIT, Outcome
from nebula.cli.remember import piped, shown
from nebula.errors import WrongUsage

if TYPE_CHECKING:
    from nebula.cli.printing import Line
    from nebula.life.consolidation import Change
    from nebula.life.surfacing import Gate
    from nebula.night import Plan, Slept

Refs = Annotated[list[str], typer.Argument(metavar="REF…")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for name, body in (("consolidate", consolidate), ("surface", surface), ("yes", yes), ("no", no)):
        command(app, name, anywhere=True)(body)


def consolidate(
    run: Run,
    *,
    plan: Annotated[bool, typer.Option("--plan")] = False,
    undo: Annotated[bool, typer.Option("--undo")] = False,
    if_missed: Annotated[bool, typer.Option("--if-missed")] = False,
    log: Annotated[Path | None, typer.Option("--log", metavar="FILE")] = None,  # noqa: ARG001 - `cli.run` sees to it
) -> Outcome:
    """Tonight's work: layers, recalled ones lifted, a digest, the vectors; --plan only shows it."""
    from nebula import night

    if plan + undo + if_missed > 1:
        raise WrongUsage("consolidate [--plan | --undo | --if-missed]", "together", these="--plan --undo --if-missed")
    mind = run.mind()
    if undo:
        taken = night.undo(mind)
        return Outcome({"undone": taken}, [[(messages.say("night.undone", run=taken), "")]])
    if plan:
        return _planned(night.plan(mind))
    if if_missed and not night.is_missed(mind):
        return Outcome({"done": False}, [[(messages.say("night.not_missed"), "")]])
    with progress.embedding(run) as advance:
        return _slept(night.consolidate(mind, progress=advance))


def _planned(plan: Plan) -> Outcome:
    lines: list[Line] = [_change_line(change) for change in plan.changes]
    if plan.notes:
        lines.append([(messages.say("night.notes", n=len(plan.notes)), "")])
    if plan.nominated:
        lines.append([(messages.say("night.nominated", ref=plan.nominated), "")])
    lines.append(_layers(plan.layers))
    return Outcome(_plan_object(plan), lines, long=True)


def _change_line(change: Change) -> Line:
    """`n12  热 → 温  A 0.512  沉降`."""
    from nebula.life.consolidation import LAYER_NAMES

    grown = f"  w {change.values['w']:g}" if "w" in change.values else ""
    moved = f"{LAYER_NAMES[change.before]} → {LAYER_NAMES[change.after]}"
    return [(f"{change.ref:<5}", "bold"), (f" {moved}  A {change.a:.3f}  {change.why}{grown}", "")]


def _plan_object(plan: Plan) -> dict[str, Any]:
    changes = [
        {"ref": c.ref, "from": c.before, "to": c.after, "a": c.a, "why": c.why, "set": dict(c.values)}
        for c in plan.changes
    ]
    return {
        "run": plan.run,
        "changes": changes,
        "layers": list(plan.layers),
        "notes": list(plan.notes),
        "nominated": plan.nominated,
    }


def _layers(counts: tuple[int, ...] | list[int] | Any) -> Line:
    """`沉海 核心 6 / 热 97`: only the layers that hold anything (spec 6)."""
    from nebula.life.consolidation import LAYER_NAMES

    held = [f"{name} {count}" for name, count in zip(LAYER_NAMES, counts, strict=True) if count]
    return [(f"沉海 {' / '.join(held) or '0'}", "")]


def _slept(done: Slept) -> Outcome:
    lines = [_layers(done.plan.layers)]
    data = {**_plan_object(done.plan), "summary": done.summary, "nodes": done.nodes, "edges": done.edges}
    if done.built is not None:
        built = done.built
        lines += [
            [(messages.say("night.vectors", n=built.present, d=built.dimensions, kb=f"{built.bytes / 1024:.1f}"), "")],
            [(messages.say("night.map", nodes=done.nodes, edges=done.edges), "")],
        ]
        data["vectors"] = {"present": built.present, "dimensions": built.dimensions, "bytes": built.bytes}
    return Outcome(data, lines, notices=done.notices)


def surface(
    run: Run,
    *,
    query: Annotated[str, typer.Option("--query", metavar="TEXT|-")] = "",
    session: options.Session = "",
) -> Outcome:
    """What would come up by itself now: the night's candidate before the five gates."""
    from nebula import surface as surfacing
    from nebula.echo import handed_out

    text = piped().decode("utf-8", "replace") if query == "-" else query
    mind = run.mind()
    found = surfacing.surface(mind, text, session)
    gates = [_gate_object(gate) for gate in found.gates]
    if found.memory is None:
        return Outcome({"memory": None, "gates": [], "open": False}, [[(messages.say("surface.none"), "")]], 1)
    handed_out(mind, [found.memory])
    head: Line = [(f"{found.memory.ref}  ", "bold"), (found.memory.text, FIT)]
    lines = [head, *(_gate_line(gate) for gate in found.gates)]
    data = {"memory": shown(found.memory), "gates": gates, "open": found.open}
    hints = [messages.say("hint.after_surface", ref=found.memory.ref)] if found.open else []
    return Outcome(data, lines, 0 if found.open else 1, hints=hints, refs=[found.memory.ref])


def _gate_object(gate: Gate) -> dict[str, Any]:
    value = None if gate.value == float("inf") else gate.value
    return {"name": gate.name, "open": gate.open, "value": value, "limit": gate.limit}


def _gate_line(gate: Gate) -> Line:
    value = "∞" if gate.value == float("inf") else f"{gate.value:.2f}"
    mark = ("  ✓ ", "green") if gate.open else ("  ✗ ", "red")
    return [mark, (f"{messages.say(f'gate.{gate.name}')} {value} / {gate.limit:g}", "")]


def _answered(run: Run, refs: list[str], *, taken: bool) -> Outcome:
    from nebula import surface as surfacing

    mind = run.mind()
    for ref in refs:
        mind.get(ref)  # all are known before the first is written
    memories = [surfacing.answer(mind, ref, taken=taken) for ref in refs]
    return Outcome({"memories": [shown(m) for m in memories]}, [[(m.ref, "bold")] for m in memories])


def yes(run: Run, refs: Refs) -> Outcome:
    """What surfaced was taken up."""
    return _answered(run, refs, taken=True)


def no(run: Run, refs: Refs) -> Outcome:
    """What surfaced was not taken up; it comes less easily next time."""
    return _answered(run, refs, taken=False)
