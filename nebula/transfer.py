"""Taking over another mind's folder, the original's or one of ours, without touching it and without doubles.

Every record keeps its fields, its time and its uid (one that carries none gets the uid that a reader derives), so
that importing twice, or once more after a kill, adds only what is missing. Ids are kept where the ledger here is
still below them and they are below `FAR`; refs in records and side ledgers follow, and a ref that names no memory there
names none here: it is left out, and so is a line that speaks of nothing else.

All that comes bears this import's run, so that one undo takes the import back and none reaches what was done there.
What had been taken back there stays so, under a run of its own that is taken back too. Nights there are none here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nebula import clock, longterm, origins, private, screen, seals
from nebula.errors import FileUnusable, LedgerUnusable, LockedTooLong, SettingsUnusable, WriteFailed, WrongUsage
from nebula.index import has_numpy
from nebula.mindlib import changes, erasing, ledger, quotes
from nebula.mindlib.quotes import Sought
from nebula.mindlib.record import FAR, LEDGERS, Apart, derived_uid, split_ref
from nebula.mindlib.store import CHANGES, CONFIG, SIDE_LEDGERS, Store
from nebula.origins import ORIGIN, REF_FIELDS, REFERRING
from nebula.reasons import because
from nebula.results import Notice
from nebula.settings import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nebula.mind import Mind
    from nebula.mindlib.ledger import Damage
    from nebula.mindlib.record import Memory

#: Of a memory, what else people write; and of a side ledger's line, what they do not.
WORDS = ("tag", "topic", "speaker", "extra")
NAMES = {"ref", "hit", "uid", "run", "undo", "at", ORIGIN}
ADDED, KEPT, ABSENT, UNUSABLE = "added", "kept", "absent", "unusable"


@dataclass(frozen=True)
class Imported:
    """What an import did, or would do: records and lines added and already here, damages, and the two whole files."""

    records: Mapping[str, int]
    here: int
    lines: Mapping[str, int]
    damages: Sequence[Damage]
    longterm: str
    settings: str
    vectors: int = 0
    notices: Sequence[Notice] = ()
    run: str = ""
    #: Memories that were erased here and so did not come.
    erased: int = 0
    #: What of those must not come in other words' midst either: it is cut out of all that comes.
    unwanted: Sought = field(default_factory=Sought)


@dataclass
class _Source:
    """A folder as read: memories by ledger, lines by side ledger, damages; `stones`: what was erased here."""

    store: Store
    stones: seals.Stones
    memories: dict[str, list[Memory]] = field(default_factory=dict)
    lines: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    damages: list[Damage] = field(default_factory=list)
    unwanted: Sought = field(default_factory=Sought)
    #: Refs there of memories that quote or digest what was erased here.
    quoting: list[str] = field(default_factory=list)

    @property
    def notices(self) -> list[Notice]:
        """What of the source can't be told, or was left out."""
        left = [Notice("quoting_erased", {"n": len(self.quoting), "refs": " ".join(self.quoting)})]
        return [*self.stones.notices, *(left if self.quoting else ())]


def import_folder(
    mind: Mind, folder: Path, *, dry_run: bool = False, progress: Callable[[int, int], None] | None = None
) -> Imported:
    """Take over the mind in `folder`. With `dry_run` nothing is written and the counts are what would be.

    Raises FileUnusable where no mind lies there, WrongUsage for this mind itself, WriteFailed, LockedTooLong.
    """
    source = _read(mind, folder)
    uids, erased = _without_erased(mind, source)
    here = {memory.uid: memory.ref for memory in mind.store.read_apart()}
    fresh = {kind: [m for m in found if m.uid not in here] for kind, found in source.memories.items()}
    seen = screen.Screened(None)
    for kind, found in fresh.items():
        fresh[kind], looked = _screened(mind, found)
        seen |= looked
    records = {kind: len(found) for kind, found in fresh.items() if found}
    known = sum(m.uid in here for found in source.memories.values() for m in found)
    if dry_run:
        lines = {name: len(list(_missing(mind, source, name, uids))) for name in source.lines}
        settled = _files(mind, source, write=False)
        left = [notice for notice in source.notices if notice.code == "quoting_erased"]
        return Imported(records, known, _some(lines), source.damages, *settled, notices=left, erased=erased)
    vectors = _adopt(mind, source.store) if records else 0
    run = clock.stamp("cmd")
    for kind, found in fresh.items():
        if found:
            here |= {memory.uid: memory.ref for memory in _write(mind, kind, found, uids, here, run)}
    refs = {ref: here[uid] for ref, uid in uids.items() if uid in here}
    lines = {name: _write_lines(mind, source, name, uids, refs, run) for name in source.lines}
    settled = _files(mind, source, write=True)
    notices = [*seen.notices(f"{sum(records.values())} ×"), *source.notices, *mind.follow(progress=progress)[1]]
    return Imported(
        records, known, _some(lines), source.damages, *settled, vectors, notices, run, erased, source.unwanted
    )


def _read(mind: Mind, folder: Path) -> _Source:
    store = Store(folder)
    if not folder.is_dir():
        raise FileUnusable(folder, because("no_folder"))
    if mind.store.in_folder and folder.resolve() == mind.folder.resolve():
        raise WrongUsage("import DIR", "itself", place=folder)
    if not any(store.path(kind.name).is_file() for kind in LEDGERS):
        raise FileUnusable(folder, because("lacks", what=LEDGERS[0].file))
    source = _Source(store, seals.stones(mind.store))
    for kind in LEDGERS:
        reading = store.read(kind.name)
        apart = Apart(str(obj["uid"]) for obj in store.erased(kind.name) if obj.get("uid"))
        source.memories[kind.name] = [apart.named(_unmistakable(memory)) for memory in reading.memories]
        source.damages += reading.damages
    for name in SIDE_LEDGERS:
        found = store.scan(name)
        source.lines[name] = [line.obj for line in found.lines]
        source.damages += found.damages
    return source


def _unmistakable(memory: Memory) -> Memory:
    """The memory; with another uid, always the same, where its own reads as a ref and could be taken for one here."""
    if split_ref(memory.uid) is None:
        return memory
    return replace(memory, uid=derived_uid(memory.ledger, memory.at, f"{memory.uid}\x1f{memory.text}", 0))


def _without_erased(mind: Mind, source: _Source) -> tuple[dict[str, str], int]:
    """Take out of a source what was erased here: forgotten is forgotten. -> (`uids` of the rest, how many went).

    With it go, as in an erase, its versions and others that say it whole, and what digests or quotes it; quotes of it
    in all else are cut out, but for what memories here say themselves. A name of one that went stands for "", as if no
    line had ever named it.
    """
    every = [memory for found in source.memories.values() for memory in found]
    gone = {memory.uid for memory in every if source.stones.bury(memory)}
    erased = len(gone)
    if gone:
        lost = [memory for memory in every if memory.uid in gone]
        source.unwanted = quotes.without(
            quotes.sought(memory.text for memory in lost), (memory.text for memory in mind.store.read_all().memories)
        )
        names = {name for memory in lost for name in (memory.ref, memory.uid)}
        told = [memory for memory in every if memory.uid not in gone and _tells(memory, lost, names, source.unwanted)]
        source.quoting = [memory.ref for memory in told]
        gone |= {memory.uid for memory in told}
    for kind, found in source.memories.items():
        source.memories[kind] = [memory for memory in found if memory.uid not in gone]
    uids = {name: "" if uid in gone else uid for name, uid in origins.uids(every).items()}
    return uids, erased


def _tells(memory: Memory, lost: Sequence[Memory], names: set[str], unwanted: Sought) -> bool:
    """Whether a memory tells of lost ones: it digests one of them, or quotes it as a summary, a version or a copy."""
    quoted = bool(quotes.find(unwanted, memory.text))
    if memory.ledger == "summaries":
        return quoted or not names.isdisjoint(memory.covers)
    whole = quoted and any(one.text.strip() in memory.text for one in lost)
    return whole or (quoted and memory.supersedes in names)


def _screened(mind: Mind, memories: Sequence[Memory]) -> tuple[list[Memory], screen.Screened]:
    """Memories as they may be stored (see screen); one that is private as a whole is left out."""
    redact, seen, kept = mind.redacts, screen.Screened(None), []
    for memory in memories:
        said = screen.value(memory.text, redact=redact)
        more = {name: screen.value(getattr(memory, name), redact=redact) for name in WORDS}
        for one in (said, *more.values()):
            seen |= one
        if said.value.strip() or not said.private:
            kept.append(replace(memory, text=said.value, **{name: one.value for name, one in more.items()}))
    return kept, seen


def _some(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


# records


def _write(
    mind: Mind, kind: str, found: Sequence[Memory], uids: Mapping[str, str], here: Mapping[str, str], run: str
) -> list[Memory]:
    """Append one ledger's records; refs among them follow once the ids are given.

    A memory of a later ledger has no id yet and is named by its uid.
    """
    drafts = [_draft(memory, run) for memory in found]

    def follow(written: list[Memory]) -> list[Memory]:
        now = {**here, **{memory.uid: memory.ref for memory in written}}
        return [_moved(memory, lambda ref: now.get(uids.get(ref, ""), uids.get(ref, ""))) for memory in written]

    return mind.store.append(kind, drafts, finish=follow)


def _draft(memory: Memory, run: str) -> Memory:
    """The memory as this import writes it; an id that was taken or is far off is given anew.

    Fields of a wrong type, which `extra` keeps as they were, go where they would stand in for a run or a ref.
    """
    number = 0 if memory.repeated or memory.id >= FAR else memory.id
    extra = {name: value for name, value in memory.extra.items() if name not in {"run", "covers", *REF_FIELDS}}
    return replace(memory, by=memory.by or "import", run=run, id=number, repeated=False, extra=extra)


def _moved(memory: Memory, to: Callable[[str], str]) -> Memory:
    """The memory with every ref put through `to`, which gives "" for one that names nothing."""
    refs: dict[str, Any] = {name: to(value) for name in REF_FIELDS if (value := getattr(memory, name))}
    return replace(memory, covers=tuple(named for ref in memory.covers if (named := to(ref))), **refs)


# side ledgers


def _missing(mind: Mind, source: _Source, name: str, uids: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(origin, line) of each line that is not here yet; told by what it says with uids for refs, and how often."""
    own = [line.obj for line in mind.store.scan(name).lines]
    here = {origin for origin, _ in origins.of_lines(own, origins.uids(mind.store.read_apart()))} if own else set()
    stones = source.stones
    for origin, line in origins.of_lines(source.lines[name], uids):
        if origin not in here and not stones.knows(origin) and (name not in REFERRING or _speaks(line, uids)):
            yield origin, line


def _speaks(line: Mapping[str, Any], uids: Mapping[str, str]) -> bool:
    """Whether a line says anything here: it names a memory that is known, or none at all, and ends no night."""
    moved = origins.with_refs(line, lambda ref: uids.get(ref, ""))
    names_none = "ref" not in line and "hit" not in line
    return "night" not in line and bool(names_none or "undo" in line or moved.get("ref") or moved.get("hit"))


def _write_lines(
    mind: Mind, source: _Source, name: str, uids: Mapping[str, str], refs: Mapping[str, str], run: str
) -> int:
    """Append a side ledger's lines that are missing, their refs and runs made ones of here; -> how many."""
    gone = changes.undone_runs(source.lines[CHANGES])
    lines = []
    for origin, line in _missing(mind, source, name, uids):
        moved = {k: v if k in NAMES else screen.value(v, redact=mind.redacts).value for k, v in line.items()}
        moved = {k: v if k in NAMES else erasing.cut(v, source.unwanted) for k, v in moved.items()}
        if name in REFERRING:
            moved = _with_run(origins.with_refs(moved, lambda ref: refs.get(ref, "")), gone, run)
        lines.append({**moved, ORIGIN: origin})
    if lines:
        mind.store.append_lines(name, lines, durable=True)
    return len(lines)


def _with_run(line: Mapping[str, Any], gone: set[str], run: str) -> dict[str, Any]:
    """A line under this import's `run`; under its own, renamed, where that was taken back there."""
    there = line.get("run")
    moved = {**line, "run": f"import-{there}" if isinstance(there, str) and there in gone else run}
    if isinstance(line.get("undo"), str):
        moved["undo"] = f"import-{line['undo']}"
    return moved


# whole files and vectors


def _files(mind: Mind, source: _Source, *, write: bool) -> tuple[str, str]:
    """What happens to the long-term notes and to the settings: taken over only where there are none here."""
    return _longterm(mind, source, write=write), _settings(mind, source, write=write)


def _longterm(mind: Mind, source: _Source, *, write: bool) -> str:
    if not source.store.path(longterm.NAME).is_file():
        return ABSENT
    if longterm.read(mind):
        return KEPT
    text = notes_of(source.store)
    if text is None:
        return UNUSABLE
    if source.stones.knows(origins.of_text(text)):
        return KEPT
    if write:
        longterm.write(mind, quotes.cut(source.unwanted, text), "", at=longterm.since(source.store))
    return ADDED


def notes_of(store: Store) -> str | None:
    """A folder's long-term notes; None where they are no text or can't be read."""
    try:
        return (store.document(longterm.NAME) or b"").decode("utf-8-sig")
    except (LedgerUnusable, UnicodeDecodeError):
        return None


def _settings(mind: Mind, source: _Source, *, write: bool) -> str:
    path = source.store.path(CONFIG)
    if not path.is_file():
        return ABSENT
    if mind.store.document(CONFIG) is not None:
        return KEPT
    try:
        build(source.store.config())
    except SettingsUnusable:
        return UNUSABLE
    if write:
        mind.store.put_document(CONFIG, _unprivate(path.read_bytes()))
    return ADDED


def _unprivate(data: bytes) -> bytes:
    """A settings file without private passages; one that has none stays byte for byte."""
    import orjson

    if not private.marked(data):
        return data
    cut = private.strip_all(orjson.loads(data.removeprefix(ledger.BOM)))
    return orjson.dumps(cut, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _adopt(mind: Mind, store: Store) -> int:
    """Vectors of an index in the source that the same model made, for texts that are the same; -> how many."""
    try:
        return mind.adopt_vectors(store) if has_numpy() else 0
    except (WriteFailed, LockedTooLong):  # no room for what is derived: it is made anew, the memories come all the same
        return 0
