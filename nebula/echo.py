"""The echo guard: what the mind handed out and gets back is known again, and no loop can multiply a memory.

Whatever shows memories to a person or an agent says so with `handed_out`; a file of the folder `.recent`, which may be
deleted at any time, holds the forms of the latest of them. A text that says nothing new against these is an echo: it is
stored once, lightly, as `via` 回声 with `echo_of`; the second is the first. A figure, a negation or another name in it
makes it news, which is stored as ever.
"""

from __future__ import annotations

import contextlib
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.errors import BadValue, Echoed, LedgerUnusable, LockedTooLong, WriteFailed
from nebula.mindlib import files, ledger
from nebula.mindlib.record import ECHO
from nebula.mindlib.store import HANDED_OUT, RECENT
from nebula.quick import dataclass
from nebula.results import Notice
from nebula.settings import check
from nebula.text import forms, likeness

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.mindlib.store import Store

#: Bytes at which the file is cut to the newest `KEPT`: some 600 to 1,500 everyday notes. Reading them is in every add.
LIMIT, KEPT = 256 * 1024, 128 * 1024
#: Of one command's output at most so many are held.
AT_MOST = 64
PATIENCE = 1.0  # seconds; nobody waits longer for a file that only helps
#: The share of new tokens up to which news retells its source: its own repetition is known again, lest a loop that
#: puts two words before a memory write them each time.
RETOLD = 0.5
#: Each further echo of one memory weighs half of the one before: all together stay below twice the first.
HALVED = 0.5


def handed_out(mind: Mind, memories: Iterable[Memory] = (), texts: Iterable[str] = ()) -> None:
    """Remember what was just shown: memories, and texts that are none, such as long-term notes. Never raises."""
    now = clock.seconds(mind.now())
    lines = [_line(now, m.text, m.ref, m.echo_of, echo=m.via == ECHO) for m in memories]
    lines += [_line(now, text) for text in texts]
    if not lines or not mind.store.local.is_dir():
        return
    path = mind.store.path(HANDED_OUT)
    with contextlib.suppress(WriteFailed, LockedTooLong, BadValue):
        files.make_folder(mind.store.path(RECENT))
        with files.appending(path, PATIENCE) as file:
            file.append(ledger.dump(lines[:AT_MOST]), durable=False)
            full = file.size > LIMIT
        if full:
            files.rewrite(path, _newest, PATIENCE)


def take_back(mind: Mind, refs: Collection[str]) -> None:
    """Forget that some memories were shown, which an undo has closed: said again they are new. Never raises."""

    def others(data: bytes) -> bytes:
        return b"".join(raw for raw, obj in ledger.objects(data) if obj is None or obj.get("ref") not in refs)

    if refs and mind.store.path(HANDED_OUT).exists():
        with contextlib.suppress(WriteFailed, LockedTooLong):
            files.rewrite(mind.store.path(HANDED_OUT), others, PATIENCE)


def _line(at: int, text: str, ref: str = "", of: str = "", *, echo: bool = False) -> dict[str, Any]:
    said = [token for part in forms.parts(text[: likeness.LONGEST]) for token in part]
    return {"at": at, "ref": ref, "of": of, "echo": echo, "said": " ".join(said), "prints": likeness.fingerprints(said)}


def _newest(data: bytes) -> bytes:
    """The newest lines, each text once, up to `KEPT` bytes."""
    kept: list[bytes] = []
    size, seen = 0, set()
    for raw, obj in reversed(list(ledger.objects(data))):
        said = obj and (obj.get("ref"), obj.get("said"))
        if obj is None or said in seen:
            continue
        seen.add(said)
        size += len(raw)
        if size > KEPT:
            break
        kept.append(raw)
    return b"".join(reversed(kept))


@dataclass(frozen=True)
class Handed:
    """A text that was handed out: when (seconds), its memory's ref, what that echoes, and its form."""

    at: int
    ref: str
    of: str
    echo: bool
    said: str
    prints: Sequence[int]

    @property
    def origin(self) -> str:
        """What is echoed in the end: a ref, or the form of a text that is no memory."""
        return self.of or self.ref or self.said


@dataclass(frozen=True)
class Echo:
    """What a text echoes: the source it takes most from, the echo that says it already, and how many there are.

    `news`: it is none, for it adds something to its source's words; but its own repetition will be one.
    """

    source: Handed
    again: str = ""
    earlier: int = 0
    news: bool = False


@dataclass
class Window:
    """What was handed out lately, each text once, the latest last."""

    handed: list[Handed] = field(default_factory=list)

    def echo(self, text: str, now: int, hours: float) -> Echo | None:
        """What a text echoes, or retells with something added; None where it has less than half from elsewhere.

        What has less than `likeness.PART` tokens is known for so many hours: an everyday note may well come twice.
        """
        if len(text) > likeness.LONGEST:
            return None
        live = [one for one in self.handed if one.said.count(" ") + 1 >= likeness.PART or now - one.at <= hours * 3600]
        lines = forms.parts(text)
        form = " ".join(token for line in lines for token in line)
        equal = [one for one in live if one.said == form]
        if equal:
            return self._found(next((one for one in equal if one.echo), equal[-1]), form, same=True)
        whole = likeness.together([self._cover(line, live) for line in lines])
        if whole.share > RETOLD:
            return None
        source = live[max(whole.by, key=lambda at: (whole.by[at], at))]
        return self._found(source, form, same=not whole.differs) if whole.says_nothing_new else Echo(source, news=True)

    def _found(self, source: Handed, form: str, *, same: bool) -> Echo:
        echoes = [one for one in self.handed if one.echo and one.origin == source.origin]
        again = next((one.ref for one in reversed(echoes) if same or one.said == form), "")
        return Echo(source, again, len(echoes))

    @staticmethod
    def _cover(line: Sequence[str], live: Sequence[Handed]) -> likeness.Cover:
        form = " ".join(line)
        equal = [at for at, one in enumerate(live) if one.said == form]
        places = equal[-1:] or _places(line, f" {form} ", live)
        return likeness.cover(line, {at: live[at].said.split(" ") for at in places})


def _places(line: Sequence[str], form: str, live: Sequence[Handed]) -> list[int]:
    """Where the likeliest sources of a line are: those that stand whole in it, the longest and latest first.

    Without that a later one that is nearly the same would be taken for it. Last what is too short for fingerprints.
    """
    whole = [at for at, one in enumerate(live) if f" {one.said} " in form]
    whole.sort(key=lambda at: (-len(live[at].said), -at))
    long, short = ([at for at in whole if bool(live[at].prints) is has] for has in (True, False))
    return [*long, *likeness.likeliest(line, [one.prints for one in live]), *short]


def window(store: Store) -> Window:
    """What the file holds, each text once; empty where it is not there or can't be read."""
    try:
        lines = [obj for _, obj in ledger.objects(store.contents(HANDED_OUT)) if obj is not None]
    except LedgerUnusable:
        return Window()
    latest: dict[tuple[str, str], Handed] = {}
    for obj in lines:
        with contextlib.suppress(KeyError, TypeError, ValueError):
            one = Handed(
                int(obj["at"]),
                str(obj.get("ref", "")),
                str(obj.get("of", "")),
                obj.get("echo") is True,
                str(obj["said"]),
                [int(number) for number in obj["prints"]],
            )
            latest.pop((one.ref, one.said), None)
            latest[one.ref, one.said] = one
    return Window(list(latest.values()))


@dataclass(frozen=True)
class Guarded:
    """Drafts as they are to be written, and for each given one its place among those, its memory, or None (refused).

    `known`: the places of drafts whose repetition is to be known again.
    """

    drafts: Sequence[Memory]
    places: Sequence[int | Memory | None]
    notices: Sequence[Notice] = ()
    known: Sequence[int] = ()

    def answer(self, written: Sequence[Memory]) -> list[Memory]:
        """The memory of each given draft, in order, once the drafts were written; those refused are left out."""
        found = (written[place] if isinstance(place, int) else place for place in self.places)
        return [memory for memory in found if memory is not None]


def guard(mind: Mind, drafts: Sequence[Memory], how: str = "") -> Guarded:
    """Tell echoes among drafts: marked, or refused, by the setting `echo.action` unless `how` says otherwise.

    What replaces another memory is said on purpose and never an echo. Raises Echoed for a single one that is refused.
    """
    how = str(check("echo.action", how)) if how else mind.settings.echo.action
    known = window(mind.store) if how != "off" else Window()
    if not known.handed:
        return Guarded(drafts, range(len(drafts)))
    now, hours = clock.seconds(mind.now()), mind.settings.echo.hours
    kept: list[Memory] = []
    places: list[int | Memory | None] = []
    told: list[tuple[str, str]] = []
    again: list[int] = []
    for draft in drafts:
        like = None if draft.supersedes else known.echo(draft.text, now, hours)
        echo = None if like is None or like.news else like
        if echo is not None and how == "refuse":
            if len(drafts) == 1:
                raise Echoed(echo.source.ref or "-")
            told.append(("echo_refused", echo.source.ref))
            places.append(None)
            continue
        place = _standing(mind, echo.again, now) if echo and echo.again else None
        if place is not None and echo:
            told.append(("echo_again", echo.source.ref))
            places.append(place)
            continue
        if echo:
            told.append(("echo", echo.source.ref))
        if like:
            again.append(len(kept))
            line = _line(now, draft.text, f"#{len(kept)}", like.source.origin, echo=not like.news)
            known.handed.append(Handed(**line))
        places.append(len(kept))
        kept.append(marked(draft, echo) if echo else draft)
    return Guarded(kept, places, _notices(told, single=len(drafts) == 1), again)


def _standing(mind: Mind, ref: str, now: int) -> int | Memory | None:
    """The echo of that name where it still holds; `#3` is the fourth draft of the same command."""
    if ref.startswith("#"):
        return int(ref[1:])
    memory = mind.find(ref)
    return None if memory is None or memory.is_old(now) else memory


def marked(draft: Memory, echo: Echo) -> Memory:
    """A draft as an echo: its source named, its weight a fraction, nothing that only its source has earned."""
    from nebula.life.weight import weigh

    weight = weigh(draft.ledger, ECHO, draft.imp, draft.e)
    share = HALVED**echo.earlier
    why = f"{weight.why} 回声×{share:g}" if share < 1 else weight.why
    of = echo.source.of or echo.source.ref
    return replace(
        draft, via=ECHO, echo_of=of, w=round(weight.w * share, 6), w_why=why, pinned=False, hits=0, last_hit="", depth=1
    )


def _notices(told: Sequence[tuple[str, str]], *, single: bool) -> list[Notice]:
    told = [(code, "" if ref.startswith("#") else ref) for code, ref in told]
    if single:
        return [Notice(code, {"ref": ref or "…"}) for code, ref in told]
    kinds = dict.fromkeys(code for code, _ in told)
    return [_many(code, [ref for kind, ref in told if kind == code]) for code in kinds]


def _many(code: str, refs: Sequence[str]) -> Notice:
    named = list(dict.fromkeys(ref for ref in refs if ref))
    more = " …" if len(named) > 5 else ""
    return Notice(f"{code}_many", {"n": len(refs), "refs": " ".join(named[:5]) + more})
