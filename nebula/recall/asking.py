"""From a query's text to what the routes are asked: terms, unit vectors, names, and the times it speaks of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula import clock
from nebula.recall.hit import Probe
from nebula.recall.lexical import FADING
from nebula.text import dialogue, words
from nebula.text.simplified import simplified

if TYPE_CHECKING:
    from datetime import datetime

    from nebula.encoder import Encoder
    from nebula.settings import RecallSettings


#: What a question for a day's doings may say beside the day.
_HAPPENED = frozenset({
    "发生", "写", "写下", "记", "记下", "忙", "去", "事", "事情", "做", "干", "聊", "说", "过",
    "happen", "happened", "happening", "going", "went", "on", "did", "done", "talk", "talked", "say", "said", "wrote",
})  # fmt: skip


def terms(query: str, recall: RecallSettings) -> dict[str, float]:
    """How much each term is asked for: how often it stands there, in a dialogue less the longer ago."""
    found: dict[str, float] = {}
    lines = dialogue.lines(query) if recall.clauses else [dialogue.Clause(query, 0)]
    for line in lines:
        for term in words.query_tokens(line.text, recall.tokens):
            found[term] = found.get(term, 0.0) + FADING**line.back
    return found


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
    from nebula.text import dates

    return [
        (clock.seconds(span.start - span.about), clock.seconds(span.end + span.about))
        for span in dates.find(simplified(query), now)
    ]


def only_dates(query: str, now: datetime) -> bool:
    """Whether a query names a time and, words that say nothing aside, nothing else."""
    from nebula.text import dates
    from nebula.text.stopwords import STOP_WORDS

    rest = query = simplified(query)
    for span in reversed(dates.find(query, now)):
        rest = rest[: span.text_from] + " " + rest[span.text_to :]
    return rest != query and all(word in STOP_WORDS or word in _HAPPENED for word in words.words(rest))
