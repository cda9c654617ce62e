"""The command why (and why-not, the same): how a memory fared in a recall, and what would bring it."""

from __future__ import annotations

import math
import shlex
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from nebula import clock, messages
from nebula.cli import options, printing
from nebula.cli.command import Run, command, overrides
from nebula.cli.printing import Outcome
from nebula.cli.recall import make_filters, memory_line, query_text
from nebula.cli.remember import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nebula.cli.printing import Line
    from nebula.remedy import Change
    from nebula.why import Part, Why

#: Words of the query that are told, those that give most first; all of them are in the JSON.
TERMS = 6
#: Decimals of a score, and the most that its parts and factors get so that they make just that.
DECIMALS, MOST = 4, 15


def register(app: typer.Typer) -> None:
    """Add the command of this module, under both names."""
    command(app, "why", anywhere=True)(why)
    command(app, "why-not", anywhere=True)(why)


def why(
    run: Run,
    ref: Annotated[str, typer.Argument(metavar="REF")],
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
    nearest: Annotated[bool, typer.Option("--nearest")] = False,
    profile: options.Profile = "",
    set_: options.SetValues = None,
) -> Outcome:
    """Why a memory comes to mind for a query, or why not and what would bring it."""
    filters = make_filters(run, ledger, tag, via, since, until, old=all_)
    mind = run.mind(overrides(profile, set_))
    then = run.moment("--as-of", as_of, end=True)
    found = mind.why(ref, query_text(query), n=limit, filters=filters, as_of=then, nearest=nearest)
    given = [
        *(["--mind", str(run.place().address or run.mind_dir)] if run.mind_dir else []),
        *(["--now", run.now_text] if run.now_text else []),
    ]
    given += [*(["--profile", profile] if profile else []), *(word for pair in set_ or [] for word in ("--set", pair))]
    texts = [line for text, indent in _told(found, given) for line in printing.wrapped(text, indent)]
    lines: list[Line] = [memory_line(found.memory), *([(text, "")] for text in texts)]
    return Outcome(_object(found, given), lines, notices=found.notices, long=True)


def _told(found: Why, given: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Sentences, each with its indent."""
    if found.came and found.hit:
        yield messages.say("why.came", place=found.place, of=found.candidates, score=f"{found.hit.score:.4f}"), ""
    else:
        yield messages.say("why.missed"), ""
        for miss in found.misses:
            facts = {name: fact or "—" for name, fact in miss.facts.items()}
            yield messages.say(f"why.miss.{miss.step}", **{**facts, "evidence": _two(found.evidence)}), "  "
    if found.echo_of:
        yield messages.say("why.echo", ref=found.echo_of), ""
    if found.through:
        yield messages.say("why.through", ref=found.through), ""
    yield from _score(found)
    if not found.came:
        yield messages.say("why.changes" if found.changes else "why.no_change"), ""
    for number, change in enumerate(found.changes, start=1):
        to = messages.say("why.untried" if change.place is None else "why.to", place=change.place)
        yield f"{number}. {_steps(change)}{to}", "  "
        first = "nebula embed --build && " if change.ask.whole else ""
        yield first + shlex.join(argv(change, given)), "     "


def _plain(value: float) -> str:
    """A setting's value as it was given, without a needless `.0`."""
    return repr(value).removesuffix(".0")


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _score(found: Why) -> Iterator[tuple[str, str]]:
    """What each part gives, their sum, and the factors that make the score of it."""
    sum_ = summed(found)
    for part in found.parts:
        if part.state == "unasked" or (part.state == "nothing" and part.name in {"speaker", "second"}):
            continue
        yield _part(found, part, sum_), "  "
        if part.name == "lexical":
            yield from ((text, "     ") for text in _terms(found))
            for ref, given in found.lent:
                yield messages.say("why.lent", ref=ref, score=f"{given:.{sum_.decimals}f}"), "     "
        if part.name == "dense" and found.meaning:
            yield messages.say("why.meaning", whole=_two(found.meaning[0]), best=_two(found.meaning[1])), "     "
        if part.name == "graph":
            yield from ((messages.say("why.edge", edge=step.words), "     ") for step in found.edges)
        if part.name == "time":
            for first, end in found.windows:
                first_text, last = (clock.write(clock.from_seconds(at)).replace("T", " ") for at in (first, end - 1))
                yield messages.say("why.window", first=first_text, last=last, at=found.memory.at), "     "
    if found.hit:
        added = " + ".join(str(sum_.added[name]) for name in found.hit.parts)
        factors = "".join(f" × {messages.say(f'factor.{name}')} {value}" for name, value in sum_.factors.items())
        yield f"{added} = {sum_.fused}{factors} = {found.hit.score:.{DECIMALS}f}", "  "
        if "freshness" in sum_.factors or "layer" in sum_.factors:
            yield messages.say("why.fresh", a=_two(found.hit.a), at=found.memory.at[:10]), "     "


class Sum(NamedTuple):
    """A score as it is worked out in print: what each part adds, their sum, and the factors that are not 1."""

    decimals: int
    added: Mapping[str, Decimal]
    fused: Decimal
    factors: Mapping[str, Decimal]

    def score(self) -> str:
        """What a reader gets who adds and multiplies what is shown."""
        return f"{math.prod(self.factors.values(), start=self.fused):.{DECIMALS}f}"


def summed(found: Why) -> Sum:
    """The figures with as few decimals, from four on, as make the score that is shown."""
    for decimals in range(DECIMALS, MOST + 1):
        added = {part.name: _added(found, part, decimals) for part in found.parts}
        factors = {name: _round(value, decimals) for name, value in (found.hit.factors if found.hit else {}).items()}
        moved = {name: value for name, value in factors.items() if value != 1}
        sum_ = Sum(decimals, added, sum(added.values(), Decimal(0)), moved)
        if found.hit is None or sum_.score() == f"{found.hit.score:.{DECIMALS}f}":
            break
    return sum_


def _added(found: Why, part: Part, decimals: int) -> Decimal:
    """What a part adds, out of its score and weight as they are shown."""
    if part.state != "found" or not part.added:
        return _round(part.added, decimals)
    weight = Decimal(repr(part.weight))
    if found.k is None:
        return _round(_round(part.score, decimals) * weight, decimals)
    return _round(weight / (Decimal(repr(found.k)) + (part.rank or 0)), decimals)


def _round(value: float | Decimal, decimals: int) -> Decimal:
    return Decimal(value).quantize(Decimal(1).scaleb(-decimals))


def _part(found: Why, part: Part, sum_: Sum) -> str:
    name = messages.say(f"why.part.{part.name}")
    score, weight = _round(part.score, sum_.decimals), _plain(part.weight)
    facts = {"name": name, "score": score, "weight": weight, "added": sum_.added[part.name]}
    if part.state != "found":
        return messages.say(f"why.state.{part.state}", **facts)
    if not part.weight:
        return messages.say("why.state.unweighed", rank=part.rank, **facts)
    if part.rank is None:
        return messages.say("why.state.beside", **facts)
    if found.k is not None:
        return messages.say("why.state.ranked", rank=part.rank, k=_plain(found.k), **facts)
    return messages.say("why.state.found", rank=part.rank, **facts)


def _terms(found: Why) -> Iterator[str]:
    """The query's words that the memory has, and those that it lacks; bits of longer words left out."""
    from nebula.text import words

    said = set(words.words(found.ask.query))
    terms = {term: one for term, one in found.terms.items() if term in said or not words.unspaced(term)}
    has = sorted((term for term, one in terms.items() if one.share), key=lambda term: -terms[term].share)
    if has:
        listed = "  ".join(f"{term} {terms[term].share:.3f}" for term in _whole(has)[:TERMS])
        yield messages.say("why.has", words=listed)
    lacks = _whole([term for term, one in terms.items() if not one.share])
    if lacks:
        yield messages.say("why.lacks", words="  ".join(lacks[:TERMS]))


def _whole(terms: Sequence[str]) -> list[str]:
    return [term for term in terms if not any(term != other and term in other for other in terms)]


def _steps(change: Change) -> str:
    return messages.say("why.and").join(messages.say(f"why.step.{step.kind}", **step.facts) for step in change.steps)


def argv(change: Change, given: Sequence[str]) -> list[str]:
    """The recall that a change asks for, as it is typed."""
    ask, filters = change.ask, change.ask.filters
    query = ["--", ask.query] if ask.query.startswith("-") else []
    words = ["nebula", "recall", *([] if query else [ask.query]), "-n", str(ask.n)]
    for option, values in (("-l", filters.ledgers), ("--tag", filters.tags), ("--via", filters.vias)):
        words += [word for value in values for word in (option, value)]
    for option, seconds in (("--since", filters.since), ("--until", filters.until)):
        words += [option, clock.write(clock.from_seconds(seconds))] if seconds is not None else []
    words += ["--all"] if filters.old else []
    words += ["--as-of", clock.write(ask.as_of)] if ask.as_of else []
    words += ["--nearest"] if ask.nearest else []
    sets = [word for key, value in change.overrides.items() for word in ("--set", f"{key}={value}")]
    return [*words, *given, *sets, *query]


def _object(found: Why, given: Sequence[str]) -> dict[str, Any]:
    hit = found.hit
    return {
        "memory": shown(found.memory),
        "query": found.ask.query,
        "n": found.ask.n,
        "came": found.came,
        "place": found.place,
        "candidates": found.candidates,
        "score": hit.score if hit else None,
        "fused": hit.fused if hit else None,
        "factors": dict(hit.factors) if hit else {},
        "freshness": hit.a if hit else None,
        "fusion_k": found.k,
        "parts": [
            {name: getattr(part, name) for name in ("name", "state", "rank", "score", "weight", "added", "found")}
            for part in found.parts
        ],
        "terms": {term: one._asdict() for term, one in found.terms.items()},
        "lent": [{"ref": ref, "score": given} for ref, given in found.lent],
        "meaning": dict(zip(("whole", "best_sentence"), found.meaning, strict=True)) if found.meaning else None,
        "edges": [{"ref": step.ref, "reason": step.reason, "flow": step.flow} for step in found.edges],
        "windows": [[clock.write(clock.from_seconds(at)) for at in window] for window in found.windows],
        "evidence": found.evidence,
        "echo_of": found.echo_of or None,
        "through": found.through or None,
        "misses": [{"step": miss.step, **miss.facts} for miss in found.misses],
        "changes": [
            {
                "steps": [{"kind": step.kind, **step.facts} for step in change.steps],
                "place": change.place,
                "tried": change.place is not None,
                "command": argv(change, given),
            }
            for change in found.changes
        ],
    }
