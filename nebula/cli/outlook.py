"""Commands that look ahead and around: promises, forecast, stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nebula import messages
from nebula.cli import options  # noqa: TC001 - typer reads the annotation when it builds the command
from nebula.cli.command import Run, command
from nebula.cli.printing import FIT, Outcome, one_line
from nebula.cli.remember import shown
from nebula.errors import WrongUsage

if TYPE_CHECKING:
    from nebula.cli.printing import Line
    from nebula.outlook import Crossing, Promise


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for name, body in (("promises", promises), ("forecast", forecast), ("stats", stats)):
        command(app, name, anywhere=True)(body)


def promises(
    run: Run,
    words: Annotated[list[str] | None, typer.Argument(metavar="[done REF…]", show_default=False)] = None,
    *,
    all_: Annotated[bool, typer.Option("--all")] = False,
    null: options.Null = False,
) -> Outcome:
    """Promises by due date, overdue ones first; `promises done REF` marks one kept."""
    from nebula import amend, outlook
    from nebula.echo import handed_out

    mind = run.mind()
    if words:
        if words[0] != "done" or len(words) < 2:
            raise WrongUsage("promises | promises done REF…", "words")
        kept = amend.keep(mind, words[1:])
        return Outcome({"memories": [shown(m) for m in kept]}, [[(m.ref, "bold")] for m in kept])
    found = outlook.promises(mind, done=all_)
    data = {"promises": [{**shown(p.memory), "days": p.days} for p in found]}
    handed_out(mind, [p.memory for p in found])
    none: list[Line] = [] if null else [[(messages.say("promises.none"), "")]]
    refs = [p.memory.ref for p in found]
    return Outcome(data, [_promise_line(p) for p in found] or none, refs=refs, null=null, long=True)


def _promise_line(promise: Promise) -> Line:
    """`o5    还有 3 天  2026-12-04  把书还给图书馆`."""
    memory, days = promise.memory, promise.days
    if memory.done_at:
        left, style = messages.say("promises.done"), "dim"
    elif days is None:
        left, style = "—", "dim"
    elif days < 0:
        left, style = messages.say("promises.overdue", days=-days), "red"
    else:
        left, style = messages.say("promises.today" if days == 0 else "promises.left", days=days), "yellow"
    return [
        (f"{memory.ref:<5}", "bold"),
        (f" {left}", style),
        (f"  {one_line(memory.due)}  ", "dim"),
        (memory.text, FIT),
    ]


def forecast(
    run: Run,
    refs: Annotated[list[str] | None, typer.Argument(metavar="[REF…]", show_default=False)] = None,
    *,
    days: Annotated[int, typer.Option("--days", metavar="N", min=1, max=36_500)] = 30,
) -> Outcome:
    """When memories sink to the next layer."""
    from nebula import outlook

    found = outlook.forecast(run.mind(), refs or [], days)
    rows = [
        {"ref": c.memory.ref, "at": c.at, "layer": c.layer, "a": c.a, "early": c.early, "text": c.memory.text}
        for c in found
    ]
    lines = [_crossing_line(c) for c in found] or [[(messages.say("forecast.none", days=days), "")]]
    return Outcome({"crossings": rows}, lines, long=True)


def _crossing_line(crossing: Crossing) -> Line:
    """`2026-12-24  n12   → 温  渡轮早上六点开`."""
    from nebula.life.consolidation import LAYER_NAMES

    early = [(f" {messages.say('forecast.early', due=crossing.memory.due)}", "red")] if crossing.early else []
    return [
        (crossing.at[:10], "dim"),
        (f"  {crossing.memory.ref:<5}", "bold"),
        (f" → {LAYER_NAMES[crossing.layer]}", ""),
        *early,
        ("  ", ""),
        (one_line(crossing.memory.text), FIT),
    ]


def stats(run: Run) -> Outcome:
    """How the mind has grown, its layers, its recalls."""
    from nebula import outlook
    from nebula.life.consolidation import LAYER_NAMES
    from nebula.mindlib.record import BY_NAME

    found = outlook.stats(run.mind())
    layers = {name: count for name, count in zip(LAYER_NAMES, found.layers, strict=True) if count}
    data = {
        "ledgers": dict(found.ledgers),
        "layers": list(found.layers),
        "replaced": found.replaced,
        "hits": found.hits,
        "recalled": found.recalled,
        "most": [{"ref": m.ref, "hits": m.hits, "text": m.text} for m in found.most],
        "months": dict(found.months),
    }
    ledgers = "  ".join(f"{BY_NAME[name].chinese} {count}" for name, count in found.ledgers.items())
    lines: list[Line] = [
        [(messages.say("stats.memories", total=sum(found.ledgers.values()), shown=ledgers, old=found.replaced), "")],
        [(messages.say("stats.layers", shown="  ".join(f"{k} {v}" for k, v in layers.items()) or "-"), "")],
        [(messages.say("stats.hits", hits=found.hits, n=found.recalled), "")],
        *([(f"  {m.ref:<5} {m.hits}×  ", "dim"), (one_line(m.text), FIT)] for m in found.most),
        *(
            [(f"  {month}  ", "dim"), (f"{count:>5}  {_bar(count, found.months)}", "")]
            for month, count in found.months.items()
        ),
    ]
    return Outcome(data, lines, long=True)


def _bar(count: int, months: object) -> str:
    most = max(dict(months).values()) if months else 1  # type: ignore[call-overload]
    return "█" * max(1, round(20 * count / most))
