"""The mind as a sky: memories, categories and days as stars, with the edges that recall walks (spec 8)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from nebula import clock, messages
from nebula.index import kinds
from nebula.life import forgetting
from nebula.mindlib import files
from nebula.mindlib.record import LEDGERS, is_core
from nebula.starmap import layout
from nebula.starmap.page import Sky, Star, render
from nebula.text.keywords import keywords

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory

    #: Node, node, kind, cosine. A node is a memory's ref, ("tag", name), ("day", number) or ("core",).
    Pair = tuple[Hashable, Hashable, int, float]

FILE = "星图.html"
CATEGORY_RADIUS, DATE_RADIUS = 5.0, 4.0
CORE = -1
FIRST = 1  # the ordinal of day 0, as clock.day counts
KINDS = "content keywords category source meaning date"
_WORDS = (
    *("count", "search", "ahead", "days", "hops0", "hops1", "hops2", "reset", "theme", "help", "why", "old", "core"),
    *("category", "date", "layer0", "layer1", "layer2", "layer3", "layer4"),
)


def draw(mind: Mind, path: Path | None = None) -> tuple[Path, bytes, Sky]:
    """Write the map as one page, by default into the mind's folder; -> (path, page, sky). Raises WriteFailed.

    Of a mind in a database that is this machine's own folder for it.
    """
    found = sky(mind)
    page = render(found)
    target = path or mind.store.local / FILE
    if path is None:
        files.make_folder(mind.store.local)
    files.replace(target, page)
    return target, page, found


def sky(mind: Mind, *, edges: bool = True, explained: bool = True) -> Sky:
    """Every memory but summaries where its id says it stands; hubs, and the days of the last 45 that hold any.

    Without what is not shown: the `edges`, or the keywords that explain them (cutting them takes 0.4 ms a memory).
    """
    now = mind.now()
    memories = sorted(mind.store.read_all().memories, key=lambda m: (_order(m), m.id, m.uid))
    drawn = [memory for memory in memories if memory.ledger != "summaries"]
    stars = [_star(mind, memory, clock.seconds(now)) for memory in drawn]
    if edges and explained:
        stars = [replace(star, words=keywords(star.text)) for star in stars]
    numbers: dict[Hashable, int] = {star.ref: number for number, star in enumerate(stars)}
    for tag in sorted({star.tag for star in stars if star.tag and not star.old}):
        numbers["tag", tag] = len(stars)
        stars.append(Star(f"#{tag}", "category", *layout.category(tag), CATEGORY_RADIUS, tag))
    for day, text in sorted(_days(memories, now).items()):
        numbers["day", day] = len(stars)
        stars.append(Star(f"@{text[:10]}", "date", *layout.date_star(day + FIRST), DATE_RADIUS, text))
    numbers["core",] = CORE
    joined = [
        (numbers[a], numbers[b], kind, cosine)
        for a, b, kind, cosine in (_pairs(mind, memories) if edges else ())
        if a in numbers and b in numbers
    ]
    sentences = messages.catalogue(messages.language())
    words = {name: sentences[f"map.{name}"] for name in _WORDS}  # the page fills them in
    names = {kind.name: kind.chinese if messages.language() == "zh" else kind.name for kind in LEDGERS}
    said = {**words, **names, "kinds": KINDS, "lang": messages.language()}
    return Sky(clock.write(now), stars, sorted(joined), kinds.KIND_NAMES, said)


def _order(memory: Memory) -> int:
    return [kind.name for kind in LEDGERS].index(memory.ledger)


def _star(mind: Mind, memory: Memory, now: int) -> Star:
    settings = mind.settings.forgetting
    core = is_core(memory.ledger, memory.say, pinned=memory.pinned)
    half = forgetting.half_life(settings, memory.ledger, memory.imp)
    age = forgetting.age_days(now, memory.seconds)
    a = 1.0 if core else forgetting.retention(age, half)
    x, y = layout.star(memory.ledger, memory.id)
    return Star(
        memory.ref,
        memory.ledger,
        x,
        y,
        layout.radius(memory.w),
        memory.text,
        half=0.0 if core else half,
        age=age,
        layer=forgetting.layer(a, settings, core=core),
        at=memory.at,
        tag=memory.tag,
        via=memory.via,
        why=memory.w_why,
        old=memory.is_old(now),
    )


def _days(memories: Sequence[Memory], now: datetime) -> Mapping[int, str]:
    """Day number -> date and that day's summaries, of the last 45 days that hold anything."""
    today = clock.day(clock.seconds(now))
    texts: dict[int, list[str]] = defaultdict(list)
    for memory in memories:
        day = clock.day(memory.seconds)
        if today - kinds.DATE_STARS < day <= today and not memory.is_old(clock.seconds(now)):
            texts[day] += [memory.text] if memory.ledger == "summaries" else []
    return {day: "\n".join([str(date.fromordinal(day + FIRST)), *said]) for day, said in texts.items()}


def _pairs(mind: Mind, memories: Sequence[Memory]) -> Iterator[Pair]:
    from nebula.index import has_numpy

    return _of_index(mind, {m.ref: m for m in memories}) if has_numpy() else _of_records(mind, memories)


def _of_index(mind: Mind, found: Mapping[str, Memory]) -> Iterator[Pair]:
    from nebula.index import graph

    index, now = mind.index(), clock.seconds(mind.now())
    alive = index.table.column("valid_to") > now
    stored = index.stored_edges()
    drawn = graph.assemble(index.table, stored, index.keywords, alive, now, mind.settings.graph.min_cosine)
    refs = [index.ref(row) for row in range(drawn.rows)]
    for a, b, kind in zip(drawn.a.tolist(), drawn.b.tolist(), drawn.kind.tolist(), strict=True):
        hub, row = max(a, b), min(a, b)
        if hub < drawn.rows:
            yield refs[a], refs[b], kind, _cosine(stored, a, b) if kind == kinds.MEANING else 0.0
        elif row < drawn.rows and refs[row] in found:
            memory = found[refs[row]]
            node = ("tag", memory.tag) if kind == kinds.CATEGORY else ("day", clock.day(memory.seconds))
            yield node, refs[row], kind, 0.0
    for tag in sorted({memory.tag for memory in found.values() if memory.tag}):
        yield ("tag", tag), ("core",), kinds.CATEGORY, 0.0


def _cosine(stored: object, a: int, b: int) -> float:
    near, cosine = stored.near, stored.cosine  # type: ignore[attr-defined]
    for one, other in ((a, b), (b, a)):
        for place in (near[one] == other).nonzero()[0].tolist():
            return float(cosine[one, place])
    return 0.0


def _of_records(mind: Mind, memories: Sequence[Memory]) -> Iterator[Pair]:
    from nebula.recall.hit import Filters
    from nebula.recall.plain import PlainSearch

    now = clock.seconds(mind.now())
    search = PlainSearch(memories, mind.settings, now, Filters(), lambda *_: (1.0, 0))
    for a, b, _, kind in search.edges:
        yield _node(search.memories, a), _node(search.memories, b), kind, 0.0


def _node(memories: Sequence[Memory], node: Hashable) -> Hashable:
    return memories[node].ref if isinstance(node, int) else node
