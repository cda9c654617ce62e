"""The command tune: learn route weights and floor from the mind's own records; write them, or put back what was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli import printing, progress
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome, one_line
from nebula.errors import WrongUsage
from nebula.results import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nebula.bench.metrics import Figure
    from nebula.cli.printing import Line
    from nebula.tuning.tune import Tuned


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    command(app, "tune")(tune)


def tune(
    run: Run,
    *,
    apply: Annotated[bool, typer.Option("--apply")] = False,
    reset: Annotated[bool, typer.Option("--reset")] = False,
) -> Outcome:
    """Learn weights and floor from questions made of the mind's own records."""
    if apply and reset:
        raise WrongUsage("tune [--apply | --reset]", "together", these="--apply --reset")
    if reset:
        return _reset(run)
    from nebula.tuning import kept
    from nebula.tuning import tune as tuning
    from nebula.tuning.queries import LEAST

    mind = run.mind()
    with progress.bar(run, messages.say("progress.asking")) as advance:
        found = tuning.tune(mind, advance)
    if apply and found.worth:
        kept.apply(mind, found.worth)
    data = {**_object(found), "applied": dict(found.worth) if apply else {}}
    if found.queries < LEAST:
        return Outcome(data, [], 1, [*found.notices, Notice("tune_few", {"n": found.queries, "least": LEAST})])
    texts = [line for text in _told(found, apply=apply) for line in printing.wrapped(text)]
    return Outcome(data, [[(text, "")] for text in texts], notices=found.notices)


def _reset(run: Run) -> Outcome:
    from nebula.tuning import kept

    back, left = kept.reset(run.mind())
    nothing = [Notice("tune_nothing")] if not back and not left else []
    lines: list[Line] = [[(messages.say("tune.back", keys=" ".join(back)), "")]] if back else []
    lines += [[(messages.say("tune.left", keys=" ".join(left)), "")]] if left else []
    return Outcome({"reset": back, "left": left}, lines, 1 if nothing else 0, nothing)


def _told(found: Tuned, *, apply: bool) -> Iterator[str]:
    """What was asked, each setting and figure before and after, and what was done."""
    kinds = "  ".join(f"{messages.say(f'tune.kind.{kind}')} {count}" for kind, count in found.kinds.items())
    yield messages.say("tune.asked", n=found.queries, kinds=kinds, judging=found.queries // 2)
    for one in found.examples:
        yield messages.say("tune.example", ref=one.ref, query=one_line(one.query))
    for key, value in found.before.items():
        yield f"  {key}  {value:g} → {found.after[key]:g}" if found.after[key] != value else f"  {key}  {value:g}"
    for name, measure in found.measures.items():
        gain = f"{measure.gain.mean:+.3f} [{measure.gain.low:+.3f}, {measure.gain.high:+.3f}]"
        yield f"  {messages.say(f'tune.{name}')}  {measure.before.mean:.3f} → {measure.after.mean:.3f}  {gain}"
    keys = " ".join(f"{key}={value:g}" for key, value in found.worth.items())
    yield messages.say("tune.none" if not keys else "tune.written" if apply else "tune.sure", keys=keys)


def _object(found: Tuned) -> dict[str, Any]:
    def figure(one: Figure) -> dict[str, float]:
        return {"mean": one.mean, "low": one.low, "high": one.high}

    return {
        "queries": found.queries,
        "kinds": dict(found.kinds),
        "examples": [one._asdict() for one in found.examples],
        "before": dict(found.before),
        "after": dict(found.after),
        "measures": {
            name: {"before": figure(one.before), "after": figure(one.after), "gain": figure(one.gain)}
            for name, one in found.measures.items()
        },
        "worth": dict(found.worth),
    }
