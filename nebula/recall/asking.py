"""From a query's text to what the routes are asked: terms, unit vectors, names, and the times it speaks of."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING

from nebula import clock
from nebula.recall.hit import Asked, Probe
from nebula.recall.lexical import FADING
from nebula.text import dialogue, normal, words
from nebula.text.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from nebula.encoder import Encoder
    from nebula.settings import RecallSettings
    from nebula.text.dates import Span


#: Of a longer query its beginning and its end are heard, where people put what they ask around what they paste.
HEARD, BEGINNING = 4_000, 1_000
#: What a question for a day's doings may say beside the day.
_HAPPENED = frozenset({
    "发生", "写", "写下", "记", "记下", "忙", "去", "事", "事情", "做", "干", "聊", "说", "过",
    "那天", "当天", "这天", "那日", "当日", "这一天", "那一天", "day",
    "happen", "happened", "happening", "going", "went", "on", "did", "done", "talk", "talked", "say", "said", "wrote",
})  # fmt: skip


def heard(query: str) -> str:
    """What a query is asked with: all of it up to `HEARD` characters, else its first `BEGINNING` and the last of it."""
    return query if len(query) <= HEARD else f"{query[:BEGINNING]}\n{query[BEGINNING - HEARD + 1 :]}"


def terms(query: str, recall: RecallSettings) -> dict[str, float]:
    """How much each term is asked for: how often it stands there, in a dialogue less the longer ago."""
    return dict(asked(query, recall, None).terms)


def asked(query: str, recall: RecallSettings, now: datetime | None) -> Asked:
    """The same, and which terms count only together: those of the dates that it names; `now` None: none are looked for.

    A query that says nothing but dates asks for those alone that a memory can be meant to hold, the calendar's.
    """
    now = now if recall.w_time else None
    only = now is not None and only_dates(query, now)
    found: dict[str, float] = {}
    loose: set[str] = set()
    groups: list[frozenset[str]] = []
    for line in dialogue.lines(query) if recall.clauses else [dialogue.Clause(query, 0)]:
        rest, spans = _apart(line.text, now) if now else (line.text, [])
        own = [] if spans and (only or not _says(rest)) else words.query_tokens(rest, recall.tokens)
        named = [words.query_tokens(text, recall.tokens) for text, span in spans if span.calendar or not only]
        for term in itertools.chain(own, *named):
            found[term] = found.get(term, 0.0) + FADING**line.back
        loose.update(own)
        groups += map(frozenset, named)
    dated = {term for group in groups for term in group} - loose
    return Asked(found, {term: [group for group in groups if term in group] for term in dated})


def probe(query: str, encoder: Encoder, recall: RecallSettings, instruction: str = "") -> Probe:
    """The unit vectors of a query's pieces and of its sentences, each behind the instruction that the model wants.

    Raises what the encoder raises.
    """
    query = simplified(query) if recall.tokens == "full" else query
    clauses = dialogue.clauses(query) if recall.clauses else []
    encoded = encoder.encode([instruction + text for text in (query, *(clause.text for clause in clauses))])
    whole = encoded.owner == 0
    if not clauses:
        return Probe(encoded.vectors[whole])
    back = [clauses[owner - 1].back for owner in encoded.owner[~whole].tolist()]
    return Probe(encoded.vectors[whole], encoded.vectors[~whole], back)


def names(query: str, recall: RecallSettings) -> set[str]:
    """What the query may call a speaker by."""
    return dialogue.names(query) if recall.w_speaker else set()


def windows(query: str, now: datetime, recall: RecallSettings) -> list[tuple[int, int]]:
    """The times that a query names (上周三, last May): [first, end) in seconds, as loosely as people mean it."""
    if not recall.w_time:
        return []
    return [
        (clock.seconds(span.start - span.about), clock.seconds(span.end + span.about))
        for _, span in _apart(query, now)[1]
    ]


def only_dates(query: str, now: datetime) -> bool:
    """Whether a query names a time and, words that say nothing aside, nothing else."""
    rest, spans = _apart(query, now)
    return bool(spans) and not _says(rest, _HAPPENED)


@lru_cache(maxsize=8)
def _apart(query: str, now: datetime) -> tuple[str, list[tuple[str, Span]]]:
    """A query without the dates that it names, and those as they stand in it."""
    from nebula.text import dates

    rest = query = simplified(query)
    spans = dates.find(query, now)
    for span in reversed(spans):
        rest = rest[: span.text_from] + " " + rest[span.text_to :]
    return rest, [(query[span.text_from : span.text_to], span) for span in spans]


def speaks_of_nothing(query: str) -> list[str]:
    """The words of a query that is but signs, figures, a greeting, thanks, assent, or that it go on; [] of others.

    Stop words are left out unless nothing else is there; of a query without words it is itself.
    """
    from nebula.text.stopwords import PHATIC, STOP_WORDS

    said = words.words(query)
    if not all(word in PHATIC or word.isdigit() or len(set(word)) == 1 < len(word) for word in said):
        return []
    return [word for word in said if word not in STOP_WORDS] or said or [normal.fold(query.strip())]


def _says(text: str, idle: Collection[str] = ()) -> bool:
    """Whether any word of a text says something."""
    from nebula.text.stopwords import STOP_WORDS

    return any(word not in STOP_WORDS and word not in idle for word in words.words(text))
