"""Erasing what a person names, and looking whether anything of it is left (spec, rule 1: only on the explicit word).

With a memory go the earlier texts that it replaced, later ones and others that quote it whole, the summaries that
digest or quote it, and every quote of it in what else the mind's folder holds. Other memories that merely share words
with it stay and are named. Subjects of a story are no part of a mind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nebula import clock, erasure, places, remains, seals
from nebula.errors import UnknownRef, WrongUsage
from nebula.mindlib import erasing, quotes
from nebula.results import Notice
from nebula.text import normal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.quotes import Sought
    from nebula.mindlib.record import Memory

    _Gone = dict[tuple[str, str], tuple[Memory, str]]

NAMED, MATCHES, VERSION, SAME, SUMMARY = "named", "matches", "version", "same", "summary"


@dataclass(frozen=True)
class Plan:
    """What an erase would take: each memory with why it goes; `near` are others that share words and stay."""

    memories: Sequence[tuple[Memory, str]]
    near: Sequence[str]
    words: Sequence[str]

    @property
    def refs(self) -> list[str]:
        """The refs that go."""
        return [memory.ref for memory, _ in self.memories]

    @property
    def texts(self) -> list[str]:
        """The texts that must be found nowhere afterwards; a digest tells of others too and is not among them."""
        return [memory.text for memory, why in self.memories if why != SUMMARY]


@dataclass(frozen=True)
class Erased:
    """What was erased, and in which files something of it is left: none, or files that are not the program's.

    `short`: files in which a text that is too short to be cut out of others stands as words of theirs; they stay.
    """

    plan: Plan
    left: Mapping[str, int]
    short: Mapping[str, int]
    notices: Sequence[Notice] = ()


def plan(mind: Mind, refs: Sequence[str] = (), words: Sequence[str] = ()) -> Plan:
    """What goes with these refs and every memory that has a word in it. Raises UnknownRef, WrongUsage."""
    words = [word.strip() for word in words if word.strip()]
    if not refs and not words:
        raise WrongUsage("erase REF… | erase --match TEXT", "nothing_named")
    every = mind.store.read_apart()
    by_name = {name: memory for memory in reversed(every) for name in (memory.ref, memory.uid)}
    gone: _Gone = {}
    folded = [normal.fold(word) for word in words]
    for ref in refs:
        memory = by_name.get(ref.strip().lower())
        if memory is None:
            raise UnknownRef(ref)
        gone.setdefault(_key(memory), (memory, NAMED))
    for memory in every:
        if remains.says(memory, folded):
            gone.setdefault(_key(memory), (memory, MATCHES))
    _versions(gone, by_name)
    wanted = quotes.sought(memory.text for memory, _ in gone.values())
    for memory in every:
        if _key(memory) not in gone and memory.ledger != "summaries" and _says_the_same(memory, gone, wanted):
            gone[_key(memory)] = (memory, SAME)
    taken = {name for memory, _ in gone.values() for name in (memory.ref, memory.uid)}
    near = []
    for memory in every:
        if _key(memory) in gone:
            continue
        quoted = bool(quotes.find(wanted, memory.text))
        shares = quoted or bool(quotes.inside(wanted, memory.text))
        if memory.ledger == "summaries" and (quoted or taken.intersection(memory.covers)):
            gone[_key(memory)] = (memory, SUMMARY)
        elif shares:
            near.append(memory.ref)
    return Plan(list(gone.values()), near, words)


def _key(memory: Memory) -> tuple[str, str]:
    """What tells a memory from every other (see Store.read_apart)."""
    return memory.ledger, memory.uid


def _versions(gone: _Gone, by_name: Mapping[str, Memory]) -> None:
    """Add the earlier texts that memories replaced, and later ones that have much of the text still."""
    wanted = quotes.sought(memory.text for memory, _ in gone.values())
    after = {_key(earlier): memory for memory in by_name.values() if (earlier := by_name.get(memory.supersedes))}
    queue = [memory for memory, _ in gone.values()]
    while queue:
        memory = queue.pop()
        later = after.get(_key(memory))
        found = [by_name.get(memory.supersedes), later if later and quotes.find(wanted, later.text) else None]
        for other in found:
            if other is not None and _key(other) not in gone:
                gone[_key(other)] = (other, VERSION)
                queue.append(other)


def _says_the_same(memory: Memory, gone: _Gone, wanted: Sought) -> bool:
    """Whether a memory has the whole text of one that goes in it."""
    if not quotes.find(wanted, memory.text):
        return False
    return any(other.text.strip() in memory.text for other, _ in gone.values())


def erase(mind: Mind, what: Plan) -> Erased:
    """Erase; on return it is gone, and every file was looked through. Raises WriteFailed, LockedTooLong."""
    summaries = [memory for memory, _ in what.memories if memory.ledger == "summaries"]
    job = erasing.Job(
        clock.write(mind.now()),
        [memory.uid for memory, _ in what.memories],
        what.refs,
        what.texts,
        remains.as_they_stand(mind, what.words),
        sorted({ref for memory in summaries for ref in memory.covers} - set(what.refs)),
        [memory.ref for memory in summaries],
        [memory.text for memory, why in what.memories if why == SUMMARY],
    )
    erasure.begin(mind.store, job)
    _, notices = mind.follow(0)
    unsealed = [] if seals.key() else [Notice("unsealed", {"path": places.erase_key()})]
    found, short = remains.left(mind, what.texts, what.words), remains.mentioned(mind, what.texts)
    return Erased(what, found, short, [*unsealed, *notices])
