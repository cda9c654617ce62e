"""What a prompt should begin with: gathered from the mind, told with discretion, put into one block (spec 9)."""

from __future__ import annotations

import sys
from dataclasses import field, replace
from itertools import islice
from typing import TYPE_CHECKING

from nebula import clock, discretion, longterm, passage
from nebula.echo import handed_out
from nebula.errors import BadValue, FileUnusable, LockedTooLong, NebulaError, NotSetUp
from nebula.index import has_numpy
from nebula.mindlib.record import ECHO
from nebula.quick import dataclass
from nebula.recall.filtering import admits, passing
from nebula.recall.hit import Filters
from nebula.results import Notice
from nebula.text import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nebula.discretion import Discretion
    from nebula.index.view import Index
    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.postgres.searching import ServedLatest

ME = "我"  # the tag of the profile that tells who speaks
LOOKED_AT = 200  # memories of a ledger, the newest, from which a section is chosen
AT_MOST: Mapping[str, int] = {"me": 6, "you": 10, "lately": 8, "promises": 6, "tacts": 6, "recalled": 6, "surfaced": 1}
LATELY_DAYS = 14  # how far back `lately` reaches
DUE_DAYS = 7  # how far ahead a promise is due; overdue ones are
USED = ("recalled", "surfaced")  # what counts as recalled; the rest stands there anyway


@dataclass(frozen=True)
class Context:
    """The block ("" where there is nothing to tell), the memories in it by section, and what should be known."""

    text: str
    shown: Mapping[str, Sequence[Memory]] = field(default_factory=dict)
    notices: Sequence[Notice] = ()


def context(
    mind: Mind,
    query: str = "",
    *,
    budget: int = passage.BUDGET,
    session: str = "",
    vias: Sequence[str] = (),
    standing: bool = True,
    touch: bool = True,
) -> Context:
    """The passage for a prompt, at most `budget` characters; without a query what stands at any time.

    `vias`: only memories from these sources. `standing=False`: only what the query brings and what is due. `touch`:
    what was recalled or surfaced counts as used, in `session`. Raises BadValue, LedgerUnusable.
    """
    if budget < passage.LEAST:
        raise BadValue("--budget", budget, f"{passage.LEAST}…")
    hits, notices = _recalled(mind, query, vias)
    view, trusted, now = _view(mind, recalled=bool(query.strip())), Filters(vias=vias), clock.seconds(mind.now())
    tact = discretion.judge(view.latest("tacts", Filters(), sys.maxsize), query)
    found = {
        "tacts": [rule for rule in tact.rules if admits(trusted, rule)],
        "surfaced": [one for one in _surfaced(mind, query, session, view) if admits(trusted, one) and tact.allows(one)],
        "promises": _due(view.latest("promises", trusted, LOOKED_AT), now),
        **(_who(view, trusted) if standing else {}),
        "recalled": hits,
        "lately": _lately(view, trusted, now) if standing else [],
    }
    chosen = _once(found, tact)
    if touch and chosen["surfaced"]:
        chosen["surfaced"], said = _claimed(mind, chosen["surfaced"][0], session)
        notices += said
    told = passage.block(_longterm(mind, tact) if standing else "", chosen, budget)
    if touch:
        notices += _used(mind, told.shown, session)
    sentences = [replace(m, text=passage.sentence(name, m)) for name, section in told.shown.items() for m in section]
    frame = [line for line in told.text.splitlines() if not line.startswith("- [")]
    handed_out(mind, sentences, [told.text, *frame] if told.text else [])
    return Context(told.text, told.shown, notices)


def _recalled(mind: Mind, query: str, vias: Sequence[str]) -> tuple[list[Memory], list[Notice]]:
    if not query.strip():
        return [], []
    from nebula import recalling

    found = recalling.seek(mind, recalling.Ask(query, 2 * AT_MOST["recalled"], Filters(vias=vias)))
    return [hit.memory for hit in found.came if hit.memory.ledger != "tacts"], list(found.notices)


def _who(view: _Indexed | _Plain | ServedLatest, trusted: Filters) -> dict[str, Iterable[Memory]]:
    """Who I am, and who you are: what is pinned first, then the important, then the new."""
    me = view.latest("profile", replace(trusted, tags=[ME]), LOOKED_AT, important=True)
    you = view.latest("profile", trusted, LOOKED_AT, important=True)
    return {"me": me, "you": (one for one in you if one.tag != ME)}


def _lately(view: _Indexed | _Plain | ServedLatest, trusted: Filters, now: int) -> Iterable[Memory]:
    """What happened lately, newest first."""
    since = now - LATELY_DAYS * clock.DAY_SECONDS
    return view.latest("notes", replace(trusted, since=since), 3 * AT_MOST["lately"])


def _due(promises: Iterable[Memory], now: int) -> list[Memory]:
    """Promises that are due within days, or overdue, the soonest first."""
    days = [(day, memory) for memory in promises if not memory.done_at and (day := memory.due_day) is not None]
    today = clock.day(now)
    return [memory for day, memory in sorted(days, key=lambda pair: (pair[0], pair[1].id)) if day - today <= DUE_DAYS]


def _longterm(mind: Mind, tact: Discretion) -> str:
    """The long-term notes without the lines that may not be told; a file that can't be read tells nothing."""
    try:
        text = longterm.read(mind)
    except FileUnusable:
        return ""
    return "\n".join(line for line in text.splitlines() if tact.allows_text(line))


def _once(found: Mapping[str, Iterable[Memory]], tact: Discretion) -> dict[str, list[Memory]]:
    """Each memory and each text once, in the section that comes first here; only what may be told.

    A section that is full reads no further.
    """
    seen: set[str] = set()
    kept: dict[str, list[Memory]] = {}
    for name, memories in found.items():
        kept[name] = []
        for memory in memories:
            said = normal.fold(memory.text).strip()
            echo = memory.via == ECHO and name != "recalled"  # what the mind said itself is no news
            fresh = memory.ref not in seen and said not in seen and not echo
            if fresh and (name == "tacts" or tact.allows(memory)):
                kept[name].append(memory)
                seen |= {memory.ref, said}
            if len(kept[name]) == AT_MOST[name]:
                break
    return kept


class _Indexed:
    """The memories that hold at `now`, by the index: only those that are looked at are read."""

    def __init__(self, index: Index, now: int) -> None:
        self.index, self.now = index, now

    def latest(self, ledger: str, filters: Filters, most: int, *, important: bool = False) -> Iterator[Memory]:
        """Of a ledger those that pass, newest first; with `important` the pinned and the important before them."""
        import numpy as np

        column = self.index.table.column
        passes = passing(replace(filters, ledgers=[ledger]), self.index.table)
        rows = np.flatnonzero(passes & (column("valid_to") > self.now))
        keys = ("id", "at", "imp", "pinned") if important else ("id", "at")
        rows = rows[np.lexsort([column(key)[rows] for key in keys])[::-1]]
        memories = (self.index.memory(int(row)) for row in rows)
        return islice((one for one in memories if one is not None and admits(filters, one)), most)

    def find(self, ref: str) -> Memory | None:
        """A memory by its ref."""
        row = self.index.row(ref)
        return self.index.memory(row) if row >= 0 else None


class _Plain:
    """The same on all records, for a Python without numpy."""

    def __init__(self, memories: Iterable[Memory], now: int) -> None:
        holding = [memory for memory in memories if not memory.is_old(now)]
        self.memories = sorted(holding, key=lambda memory: (memory.seconds, memory.id), reverse=True)

    def latest(self, ledger: str, filters: Filters, most: int, *, important: bool = False) -> Iterator[Memory]:
        """See `_Indexed.latest`."""
        found: Iterator[Memory] = (one for one in self.memories if one.ledger == ledger and admits(filters, one))
        if important:
            found = iter(sorted(found, key=lambda one: (one.pinned, one.imp), reverse=True))
        return islice(found, most)

    def find(self, ref: str) -> Memory | None:
        """A memory by its ref."""
        return next((memory for memory in self.memories if memory.ref == ref), None)


def _view(mind: Mind, *, recalled: bool) -> _Indexed | _Plain | ServedLatest:
    now = clock.seconds(mind.now())
    served = mind.served()[0] if not mind.store.in_folder and has_numpy() else None
    if served is not None:
        from nebula.postgres.searching import ServedLatest

        return ServedLatest(served, now)
    return (
        _Indexed(mind.recalled_from() if recalled else mind.index(), now)
        if has_numpy()
        else _Plain(mind.store.read_all().memories, now)
    )


def _surfaced(mind: Mind, query: str, session: str, view: _Indexed | _Plain | ServedLatest) -> list[Memory]:
    """The night's candidate, where it passes its five gates."""
    if not query.strip():
        return []
    from nebula import surface

    try:
        found = surface.look(mind, query, session, view.find)
    except NotSetUp:  # without the encoder nothing says that it is relevant
        return []
    return [found.memory] if found.open and found.memory else []


def _claimed(mind: Mind, memory: Memory, session: str) -> tuple[list[Memory], list[Notice]]:
    """What surfaces, where no other process tells it now; where that can't be written down it is told all the same."""
    from nebula import surface

    try:
        return ([memory] if surface.claim(mind, memory, session) else []), []
    except LockedTooLong:
        return [], []
    except NebulaError as error:
        return [memory], [Notice("not_touched", {"reason": error.message})]


def _used(mind: Mind, shown: Mapping[str, Sequence[Memory]], session: str) -> list[Notice]:
    """Write down what counts as recalled; a failure is a notice, the passage is told all the same."""
    refs = [memory.ref for name in USED for memory in shown.get(name, ())]
    return mind.touch(refs, session) if refs else []
