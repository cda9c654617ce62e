"""One memory: its fields and defaults, the words for ledgers and `via`, and line <-> record (spec 1).

Reading is lenient: a field of the wrong type reads as its default and its raw value stays in `extra`, so that
nothing a foreign program wrote is lost on the way through. Only `id` and `text` make a line a record.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.quick import dataclass
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class LedgerKind:
    """A ledger's name in files and settings, the letter of its refs, and its Chinese name."""

    name: str
    letter: str
    chinese: str

    @property
    def file(self) -> str:
        """The ledger's file name."""
        return f"{self.name}.jsonl"


LEDGERS = (
    LedgerKind("notes", "n", "事实"),
    LedgerKind("profile", "p", "画像"),
    LedgerKind("promises", "o", "约定"),
    LedgerKind("tacts", "t", "分寸"),
    LedgerKind("thoughts", "h", "念想"),
    LedgerKind("summaries", "s", "小结"),
)
BY_NAME: Mapping[str, LedgerKind] = {kind.name: kind for kind in LEDGERS}
BY_LETTER: Mapping[str, LedgerKind] = {kind.letter: kind for kind in LEDGERS}
#: The order of ledgers wherever one is needed.
LEDGER_CODE: Mapping[str, int] = {kind.name: code for code, kind in enumerate(LEDGERS)}
#: How a person may name a ledger: its file's name, its Chinese name, its letter.
LEDGER_WORDS: Mapping[str, str] = {
    word: kind.name for kind in LEDGERS for word in (kind.name, kind.chinese, kind.letter, kind.name.rstrip("s"))
}
#: The source of what the mind itself had handed out and got back (see echo).
ECHO = "回声"
VIA_WORDS: Mapping[str, str] = {
    "user": "他说的",
    "self": "我自己想的",
    "tool": "工具",
    "web": "网页",
    "echo": ECHO,
    "他说的": "他说的",
    "我自己想的": "我自己想的",
    "工具": "工具",
    "网页": "网页",
    ECHO: ECHO,
}
#: A source's English word by the ledgers' own.
VIA_ENGLISH: Mapping[str, str] = {chinese: word for word, chinese in VIA_WORDS.items() if word.isascii()}
#: The seven dimensions of mood (spec 7), English key and Chinese name.
EMOTIONS: Mapping[str, str] = {
    "happy": "开心",
    "calm": "平静",
    "sweet": "甜",
    "heartache": "心疼",
    "worry": "担心",
    "sad": "难过",
    "jealous": "吃醋",
}
EMO_WORDS: Mapping[str, str] = {**{k: k for k in EMOTIONS}, **{v: k for k, v in EMOTIONS.items()}}
SAY = ("never", "if-asked", "gently", "freely")
MAX_ID = 2**53 - 1
#: Ids from here on are far off: no mind counts so far, and the next id does not follow one that another program gave.
FAR = 10**9
_UID = re.compile(r"[0-9a-f]{16}")
_REF = re.compile(r"([npothsNPOTHS])([0-9]{1,16})")


@dataclass(frozen=True)
class Memory:
    """One memory as it stands: its own line, with later changes folded in where the reader folded them."""

    ledger: str
    id: int
    at: str
    text: str
    via: str = "他说的"
    tag: str = ""
    w: float = 1.0
    imp: float = 0.5
    e: float = 0.0
    emo: str = ""
    depth: int = 1
    pinned: bool = False
    hits: int = 0
    last_hit: str = ""
    sunken_at: str = ""
    valid_to: str | None = None
    mood: Mapping[str, Any] = field(default_factory=dict)
    w_why: str = ""
    due: str = ""
    topic: str = ""
    say: str = "gently"
    uid: str = ""
    tz: str = ""
    by: str = ""
    session: str = ""
    turn: int = 0
    speaker: str = ""
    time: str = ""
    supersedes: str = ""
    covers: tuple[str, ...] = ()
    echo_of: str = ""
    done_at: str = ""
    #: The summary that digests it, e.g. `s4`; written by the night alone.
    summarised: str = ""
    #: The command that wrote it, so that `undo` knows it again (see changes).
    run: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    #: A later line under an id that was taken: its ref is its uid (spec 1).
    repeated: bool = False
    #: Whether a later memory captured it (`captured.jsonl`, spec 6).
    captured: bool = False

    @property
    def ref(self) -> str:
        """What a person types for it: `n12`, or the uid where the id was already taken."""
        return self.uid if self.repeated else f"{BY_NAME[self.ledger].letter}{self.id}"

    def searchable(self, mode: str) -> str:
        """What words and meaning are looked for in: the text, and the story's own time where it has one.

        In mode `words`, the first version's way of reading, the text alone.
        """
        return f"{self.text} {self.time}" if self.time and mode == "full" else self.text

    @property
    def seconds(self) -> int:
        """`at` in seconds since year 1 (see clock); 0, the oldest, where it can't be read."""
        moment = clock.parse(self.at)
        return clock.seconds(moment) if moment else 0

    @property
    def due_day(self) -> int | None:
        """The day on which it is due (see clock.day); None where there is none that can be read."""
        moment = clock.parse(self.due) if self.due else None
        return None if moment is None else clock.day(clock.seconds(moment))

    def is_old(self, now: int) -> bool:
        """Whether it was replaced by `now` (seconds); a `valid_to` that can't be read replaces nothing."""
        moment = clock.parse(self.valid_to or "")
        return moment is not None and clock.seconds(moment) <= now


def is_core(ledger: str, say: str, *, pinned: bool) -> bool:
    """Fixed stars: pinned, and tacts that say never (spec 3)."""
    return pinned or (ledger == "tacts" and say == "never")


def split_ref(ref: str) -> tuple[str, int] | None:
    """`n12` -> ("notes", 12); None where it is no such ref."""
    found = _REF.fullmatch(ref.strip())
    if found is None or int(found[2]) > MAX_ID:
        return None
    return BY_LETTER[found[1].lower()].name, int(found[2])


def is_uid(ref: str) -> bool:
    """Whether it has the form of a uid, 16 hex digits."""
    return _UID.fullmatch(ref) is not None


def following(taken: Iterable[int]) -> int:
    """The id that comes after all that are taken, in an empty ledger 1.

    Of ids that are far off, such as another program's times, none has the next one follow, or one line near the last
    id there is would leave none; only where the nearer ones are used up, the highest of all has. (4, FAR + 7) -> 5.
    """
    ids = list(taken)
    near = max((number for number in ids if number < FAR), default=0) + 1
    return near if near < FAR else max(ids) + 1


def default_via(ledger: str) -> str:
    """Thoughts are told by nobody (spec 1)."""
    return "我自己想的" if ledger == "thoughts" else "他说的"


def derived_uid(ledger: str, at: str, text: str, occurrence: int) -> str:
    """The uid of a record that carries none: a hash of ledger, at, text and how many such lines came before."""
    parts = "\x1f".join((ledger, at, text, str(occurrence)))
    return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Apart:
    """Tells memories of one ledger apart whose lines carry one uid, as a line copied by hand does.

    The first in the file keeps it; a later one gets another, always the same, made of the uid, its time and its text.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """`taken`: uids of lines that were erased, which are nobody else's."""
        self.seen = set(taken)

    def named(self, memory: Memory) -> Memory:
        """The next memory of the ledger, under its own uid, or one of its own."""
        uid, copies = memory.uid, 0
        while uid in self.seen:
            uid = derived_uid(memory.ledger, memory.at, f"{memory.uid}\x1f{memory.text}", copies)
            copies += 1
        self.seen.add(uid)
        return memory if uid == memory.uid else replace(memory, uid=uid)


def _share(value: object) -> float | None:
    number = _number(value)
    return None if number is None else min(1.0, max(0.0, number))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e12 <= value <= 1e12:
        return None
    return float(value)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_ID else None


def _depth(value: object) -> int | None:
    count = _count(value)
    return count if count is not None and count <= 4 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _session(value: object) -> str | None:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text(value)


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _refs(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(value)


_READERS = {
    "str": _text,
    "str | None": _text,
    "int": _count,
    "float": _number,
    "bool": _flag,
    "Mapping[str, Any]": _object,
    "tuple[str, ...]": _refs,
}
_SPECIAL = {"imp": _share, "e": _share, "depth": _depth, "session": _session}
_OWN = {"ledger", "id", "extra", "repeated", "captured"}
_FIELDS = {f.name: _SPECIAL.get(f.name, _READERS[str(f.type)]) for f in fields(Memory) if f.name not in _OWN}
_DEFAULTS: dict[str, Any] = {f.name: f.default for f in fields(Memory) if f.name in _FIELDS} | {"mood": {}}
_NULLABLE = {"valid_to"}
#: What each field expects, for a refusal.
EXPECTED: Mapping[str, str] = {
    f.name: {"imp": "0…1", "e": "0…1", "depth": "0…4"}.get(f.name, str(f.type))
    for f in fields(Memory)
    if f.name in _FIELDS
}


def reads(name: str, value: object) -> bool:
    """Whether a field of that name exists and takes the value as it is (not clamped)."""
    read = _FIELDS.get(name)
    if name in {"imp", "e"}:
        return _share(value) is not None and _share(value) == value
    return read is not None and (read(value) is not None or (value is None and name in _NULLABLE))


def reason_unreadable(obj: object) -> str | None:
    """Why a parsed line is no record, or None where it is one: an object with a whole `id` and a `text`."""
    if not isinstance(obj, dict):
        return because("no_object")
    if _count(obj.get("id")) is None:
        return because("lacks", what="id")
    if not isinstance(obj.get("text"), str):
        return because("lacks", what="text")
    return None


def tombstone(number: int, at: str, uid: str = "", seals: Sequence[str] = ()) -> dict[str, Any]:
    """What stays in the place of an erased memory: its id, which is never given again, and when it was erased.

    `uid`, where it was drawn at random, keeps a merge from bringing the memory back; of names that are hashes of the
    text, which would tell whoever guesses the text, seals alone stay (see seals).
    """
    kept = {"uid": uid, "seals": list(seals)}
    return {
        "id": number,
        "at": at,
        "text": "",
        "erased": True,
        **{name: value for name, value in kept.items() if value},
    }


def is_tombstone(obj: Mapping[str, Any]) -> bool:
    """Whether a readable line stands where a memory was erased."""
    return obj.get("erased") is True and obj.get("text") == ""


def from_object(ledger: str, obj: Mapping[str, Any], *, repeated: bool = False, uid: str = "") -> Memory:
    """A parsed line that `reason_unreadable` passes -> Memory; `uid` stands in where the line has none."""
    values: dict[str, Any] = {"at": "", "via": default_via(ledger)}
    extra: dict[str, Any] = {}
    for name, raw in obj.items():
        read = _FIELDS.get(name)
        if name == "id":
            continue
        value = None if read is None else read(raw)
        if value is not None:
            values[name] = value
        elif not (raw is None and name in _NULLABLE):
            extra[name] = raw
    values["uid"] = values.get("uid") or uid
    return Memory(ledger=ledger, id=obj["id"], extra=extra, repeated=repeated, **values)


def to_object(memory: Memory) -> dict[str, Any]:
    """Memory -> the object its line holds: id, at, text, via and w always, other fields where they say something."""
    obj: dict[str, Any] = {"id": memory.id, "at": memory.at, "text": memory.text, "via": memory.via, "w": memory.w}
    for name in _FIELDS:
        value = getattr(memory, name)
        if name not in obj and name not in memory.extra and value != _DEFAULTS[name]:
            obj[name] = list(value) if isinstance(value, tuple) else value
    return obj | dict(memory.extra)
