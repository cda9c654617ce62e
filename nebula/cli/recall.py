"""Commands that look: recall, list, show."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import clock, messages
from nebula.cli import options, printing
from nebula.cli.command import Run, command, overrides
from nebula.cli.printing import Outcome, one_line
from nebula.cli.remember import piped, shown
from nebula.errors import BadValue, NebulaError, WrongUsage, short
from nebula.results import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nebula.cli.printing import Line
    from nebula.mind import Mind
    from nebula.mindlib.ledger import Damage
    from nebula.mindlib.record import Memory
    from nebula.recall.budget import Budget
    from nebula.recall.hit import Filters, Hit
    from nebula.results import Recalled


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    command(app, "recall", anywhere=True)(recall)
    command(app, "list", anywhere=True)(list_)
    command(app, "show", anywhere=True)(show)


def recall(
    run: Run,
    query: Annotated[str, typer.Argument(metavar="[QUERY|-]", show_default=False)] = "",
    *,
    limit: options.Limit = 8,
    ledger: options.Ledgers = None,
    tag: options.Tags = None,
    via: options.Vias = None,
    since: options.Since = "",
    until: options.Until = "",
    all_: options.Everything = False,
    as_of: options.AsOf = "",
    explain: Annotated[bool, typer.Option("--explain")] = False,
    nearest: Annotated[bool, typer.Option("--nearest")] = False,
    no_touch: Annotated[bool, typer.Option("--no-touch")] = False,
    profile: options.Profile = "",
    set_: options.SetValues = None,
    jsonl: options.Jsonl = False,
    budget: options.Budget = None,
    tokens: Annotated[bool, typer.Option("--tokens")] = False,
    null: options.Null = False,
) -> Outcome:
    """What comes to mind for a query."""
    filters = make_filters(run, ledger, tag, via, since, until, old=all_)
    mind = run.mind(overrides(profile, set_))
    then = run.moment("--as-of", as_of, end=True)
    given = query_text(query)
    room, unit = _budget(mind, budget, tokens=tokens, explain=explain)
    found = mind.recall(
        given,
        n=limit,
        filters=filters,
        touch=not no_touch,
        explain=explain,
        as_of=then,
        nearest=nearest,
        budget=room,
    )
    rows = [hit_object(hit) for hit in found.hits]
    blocks = [hit_lines(hit, explain=explain) for hit in found.hits]
    lines = [printing.joined(block) for block in blocks] if null else [line for block in blocks for line in block]
    any_came = bool(found.hits or found.left_out) and not found.abstained
    nothing = [] if run.json or any_came else [_silence(found)]
    closest = hit_object(found.closest) if found.closest else None
    silence = {"abstained": found.abstained, "evidence": found.evidence, "closest": closest}
    data = {"query": found.query, "hits": rows, **silence, **_left_out(found, room, unit)}
    said = [*found.notices, *_no_room(found, room, unit), *nothing]
    refs = [hit.memory.ref for hit in found.hits]
    return Outcome(data, lines, 0 if any_came else 1, said, rows=rows if jsonl else None, refs=refs, null=null)


def _budget(mind: Mind, most: int | None, *, tokens: bool, explain: bool) -> tuple[Budget | None, str]:
    """What the hits' lines may take in a pipe, line ends counted, and its unit: characters, tokens, tokens_about.

    Tokens are those of the encoder, which recall has loaded anyway, else an estimate. Raises WrongUsage.
    """
    from nebula.recall.budget import Budget

    if most is None:
        if tokens:
            raise WrongUsage("recall --tokens --budget N QUERY", "needs", this="--tokens", that="--budget N")
        return None, ""
    count, unit = _counter(mind) if tokens else (len, "characters")

    def room(hit: Hit) -> int:
        lines = hit_lines(hit, explain=explain)
        return sum(1 + count("".join(one_line(text) for text, _ in line)) for line in lines)

    return Budget(most, room), unit


def _counter(mind: Mind) -> tuple[Callable[[str], int], str]:
    from nebula.recall.budget import estimate

    try:
        return mind.encoder().count, "tokens"
    except NebulaError:
        return estimate, "tokens_about"


def _left_out(found: Recalled, budget: Budget | None, unit: str) -> dict[str, Any]:
    if budget is None:
        return {}
    return {"budget": {"most": budget.most, "unit": unit}, "left_out": [hit.memory.ref for hit in found.left_out]}


def _no_room(found: Recalled, budget: Budget | None, unit: str) -> list[Notice]:
    refs = " ".join(hit.memory.ref for hit in found.left_out)
    if budget is None or not refs:
        return []
    room = messages.say(f"budget.{unit}", n=budget.most)
    return [Notice("no_room", {"budget": room, "n": len(found.left_out), "refs": refs})]


def _silence(found: Recalled) -> Notice:
    """That nothing is remembered, and what came closest; of `--nearest` hits, that they only came closest."""
    if not found.abstained:
        return Notice("nothing")
    if found.hits:
        return Notice("only_nearest")
    if found.closest is None:
        return Notice("abstained")
    memory = found.closest.memory
    return Notice("abstained_closest", {"text": short(one_line(memory.text)), "ref": memory.ref})


def query_text(text: str) -> str:
    """The argument; standard input where it is `-`."""
    given = text == "-" or (not text and not sys.stdin.isatty())
    return piped().decode("utf-8", "replace") if given else text


def make_filters(
    run: Run,
    ledgers: list[str] | None,
    tags: list[str] | None,
    vias: list[str] | None,
    since: str,
    until: str,
    *,
    old: bool,
) -> Filters:
    """The filter options as the operations take them. Raises BadValue."""
    from nebula.mindlib.record import VIA_WORDS
    from nebula.recall.hit import Filters

    named = []
    if ledgers:
        from nebula.drafts import ledger_name

        named = [ledger_name(word) for word in ledgers]
    first, last = run.moment("--since", since), run.moment("--until", until, end=True)
    if first and last and last < first:
        raise BadValue("--until", until, f"≥ --since {since}")
    return Filters(
        named,
        tags or [],
        [VIA_WORDS.get(word, word) for word in vias or []],
        clock.seconds(first) if first else None,
        clock.seconds(last) if last else None,
        old,
    )


def hit_object(hit: Hit) -> dict[str, Any]:
    """A hit as JSON shows it."""
    return {
        **shown(hit.memory),
        "score": hit.score,
        "label": hit.label,
        "fused": hit.fused,
        "freshness": hit.a,
        "old": hit.old,
        "routes": {name: {"rank": place.rank, "score": place.score} for name, place in hit.routes.items()},
        "factors": dict(hit.factors),
        "parts": dict(hit.parts),
        "edge": hit.edge,
        **({"encoders": dict(hit.encoders)} if hit.encoders else {}),
    }


def hit_lines(hit: Hit, *, explain: bool) -> list[Line]:
    """`0.101 [词#3 义#1 图#1] 2026-11-13 text  n12`, and what explains it (spec 5)."""
    memory = hit.memory
    old = [(f" {messages.say('word.old')}", "red")] if hit.old else []
    head: Line = [
        (f"{hit.score:.3f}", "cyan"),
        (f" {hit.label}", "magenta"),
        *old,
        (f" {_day(memory)} ", "dim"),
        (memory.text, printing.FIT),
        (f"  {memory.ref}", "dim"),
    ]
    return [head, *_explained(hit)] if explain else [head]


def _day(memory: Memory) -> str:
    return one_line(memory.at[:10])


def _explained(hit: Hit) -> list[Line]:
    from nebula.recall.fusion import ROUTES

    routes = "  ".join(f"{ROUTES[n]}#{place.rank} {place.score:.4f}" for n, place in hit.routes.items())
    moved = {name: value for name, value in hit.factors.items() if abs(value - 1.0) >= 0.00005}
    factors = " ".join(f"{messages.say(f'factor.{name}')}×{value:.4f}" for name, value in moved.items())
    marks = {**ROUTES, "speaker": messages.say("word.speaker"), "second": ROUTES["dense"]}
    marks |= {name: f"{marks[name]}({encoder})" for name, encoder in hit.encoders.items()}
    parts = [f"{marks[name]} {value:.4f}" for name, value in hit.parts.items()]
    said = [routes, f"{' + '.join(parts)} = {hit.fused:.5f}  {factors}  = {hit.score:.5f}  (A {hit.a:.3f})"]
    said += [f"图 ← {hit.edge}"] if hit.edge else []
    said += [f"w {hit.memory.w:g}  {hit.memory.w_why}"] if hit.memory.w_why else []
    return [[(f"      {one_line(line)}", "dim")] for line in said]


def list_(
    run: Run,
    *,
    limit: options.Limit = 20,
    ledger: options.Ledgers = None,
    tag: options.Tags = None,
    via: options.Vias = None,
    since: options.Since = "",
    until: options.Until = "",
    all_: options.Everything = False,
    as_of: options.AsOf = "",
    null: options.Null = False,
) -> Outcome:
    """The newest memories."""
    from nebula.echo import handed_out

    filters = make_filters(run, ledger, tag, via, since, until, old=all_)
    mind = run.mind()
    found = mind.list(filters, limit, run.moment("--as-of", as_of, end=True))
    handed_out(mind, found.memories)
    now = clock.seconds(run.now())
    rows = [{**shown(memory), "old": memory.is_old(now)} for memory in found.memories]
    lines = [memory_line(memory, old=memory.is_old(now)) for memory in found.memories]
    nothing = [Notice("nothing_listed")] if not (lines or run.json) else []
    data = {"memories": rows, "total": found.total}
    refs = [memory.ref for memory in found.memories]
    said = [*_damaged(found.damages), *nothing]
    return Outcome(data, lines, notices=said, refs=refs, null=null, long=True)


def _damaged(damages: Sequence[Damage]) -> list[Notice]:
    where = ", ".join(f"{damage.path.name}:{damage.line}" for damage in damages[:5])
    return [Notice("damaged_lines", {"n": len(damages), "where": where})] if damages else []


def memory_line(memory: Memory, *, old: bool = False) -> Line:
    """`n12 2026-11-13 事实 text`; a star for what is pinned, a mark for what was replaced."""
    from nebula.mindlib.record import BY_NAME

    name = BY_NAME[memory.ledger].chinese
    return [
        (f"{one_line(memory.ref):<5}", "bold"),
        (f" {_day(memory)} {name} ", "dim"),
        *([(f"{messages.say('word.old')} ", "red")] if old else []),
        *([("★ ", "yellow")] if memory.pinned else []),
        (memory.text, printing.FIT),
    ]


def show(
    run: Run,
    refs: Annotated[list[str], typer.Argument(metavar="REF…")],
    history: Annotated[bool, typer.Option("--history")] = False,
) -> Outcome:
    """Whole memories, every field; with --history all that happened to them."""
    from nebula import amend
    from nebula.cli.amend import event_line, event_object
    from nebula.echo import handed_out

    mind = run.mind()
    memories = [mind.get(ref) for ref in refs]
    handed_out(mind, memories)
    events = {memory.ref: amend.history(mind, memory.ref) if history else [] for memory in memories}
    lines: list[Line] = []
    for memory in memories:
        lines += [*_whole(memory), *(event_line(event) for event in events[memory.ref])]
    rows = [
        {**shown(m), **({"history": [event_object(e) for e in events[m.ref]]} if history else {})} for m in memories
    ]
    return Outcome({"memories": rows}, lines, long=True)


def _whole(memory: Memory) -> list[Line]:
    from nebula.mindlib.record import BY_NAME

    head: Line = [(memory.ref, "bold"), (f"  {BY_NAME[memory.ledger].chinese}  {one_line(memory.at)}", "dim")]
    text: list[Line] = [[(f"  {printing.clean(line)}", "")] for line in memory.text.split("\n")]
    told = {**shown(memory), "imp": memory.imp, "depth": memory.depth, "hits": memory.hits}
    for name in ("ref", "ledger", "id", "at", "text", "run"):
        told.pop(name, None)
    return [head, *text, *([(f"  {name:<11}", "dim"), (one_line(str(value)), "")] for name, value in told.items())]
