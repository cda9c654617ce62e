"""Bringing what is derived on the server (index.sql) up to the mind's lines: rows, changes, vectors; by any host.

Every step is one transaction under one lock, and is done only where the state is still as it was read: two hosts that
fill at once do no work twice over, and one that is killed leaves whole steps.
"""

from __future__ import annotations

from dataclasses import asdict, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import segments, state
from nebula.index.table import CHANGEABLE, DTYPES, columns
from nebula.mindlib import changes
from nebula.mindlib.record import BY_NAME, LEDGER_CODE, LEDGERS, from_object
from nebula.mindlib.store import FOLDED
from nebula.postgres import vectors, wire
from nebula.postgres.schema import INDEX_FORMAT, index_format, lock_of
from nebula.postgres.served import COLUMNS, ServedTable
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.catchup import Embedder
    from nebula.mindlib.ledger import Line
    from nebula.postgres.store import PostgresStore
    from nebula.text.words import Mode

    Array = NDArray[Any]

#: The columns of a memory as they are sent.
CELLS = ", ".join(("r", *COLUMNS.values()))
#: Lines that become rows in one step.
STEP = 16_384
#: Rows from which a term's run is kept in another block: distances within one are 16 bits.
BLOCK = 1 << 16
#: Texts that get their vectors in one step.
TEXTS = 2000
#: Changes that a recall lays over itself before they are folded for good.
CHANGES = 256
#: Rows up to which whoever fills makes the index of vectors: a moment's work; for more `embed --build` takes the time.
SMALL = 20_000


@dataclass(frozen=True)
class Filled:
    """How far it is: places consumed of each ledger, of each side ledger what is folded; tokens of all rows.

    `reading`: the way in which texts were read; `model`: the encoder.
    """

    reading: str
    model: str
    rows: int = 0
    terms: int = 0
    consumed: Mapping[str, int] = field(default_factory=dict)
    folded: Mapping[str, int] = field(default_factory=dict)


def read(db: Any) -> tuple[Filled | None, bytes]:
    """The state, and its bytes; None and nothing where nothing was filled. The tables must be there."""
    import orjson

    query = "SELECT filled FROM nebula_index.state WHERE format = %s"
    row = db.execute(query, [INDEX_FORMAT], binary=True).fetchone()
    return (Filled(**orjson.loads(row[0])), row[0]) if row else (None, b"")


def ends(store: PostgresStore, names: Sequence[str]) -> dict[str, int]:
    """The place that comes next in each of some ledgers, in one question."""
    return store.connection.run(lambda db: _ends(db, names), single=True)


def _ends(db: Any, names: Sequence[str]) -> dict[str, int]:
    query = (
        "SELECT given.kind, coalesce((SELECT max(n) + 1 FROM nebula.line WHERE line.kind = given.kind), 0)"
        " FROM unnest(%s::text[]) AS given (kind)"
    )
    return {kind: int(end) for kind, end in db.execute(query, [list(names)]).fetchall()}


@dataclass(frozen=True)
class Looked:
    """The state (None: nothing was filled), the ledgers' ends, whether texts wait; `able`: whether it can be kept."""

    able: bool
    filled: Filled | None = None
    ends: Mapping[str, int] = field(default_factory=dict)
    waiting: bool = False

    def lacks(self, filled: Filled) -> int:
        """How many lines of the memories' ledgers are no rows yet."""
        return sum(end - filled.consumed.get(kind, 0) for kind, end in self.ends.items() if kind in BY_NAME)

    def behind(self, filled: Filled) -> bool:
        """Whether there is anything to fill in; an undo apart, which its line tells."""
        changed = sum(end - filled.folded.get(name, 0) for name, end in self.ends.items() if name in FOLDED)
        return self.lacks(filled) > 0 or changed > CHANGES or self.waiting


def look(db: Any) -> Looked:
    """How things stand, in one go."""
    if index_format(db) != INDEX_FORMAT:
        return Looked(able=False)
    filled, _ = read(db)
    waiting = db.execute("SELECT FROM nebula_index.waiting LIMIT 1").fetchall()
    return Looked(True, filled, _ends(db, [*BY_NAME, *FOLDED]), bool(waiting))


def fill(store: PostgresStore, filled: Filled, mode: Mode, embedder: Embedder, most: int | None) -> Filled:
    """Rows of new lines, then the changes, then vectors as far as the embedder goes; -> how far it is now.

    `filled`: what was read, or how a first filling begins. `most`: lines and lent vectors that this call may take.
    Raises StoreUnreachable, StoreRefused, LockedTooLong.
    """
    # in one look: a change is written after its memory, and none is folded before that is a row
    known = ends(store, [*BY_NAME, *FOLDED])
    filled = _add_rows(store, filled, mode, most)
    if all(filled.consumed.get(kind, 0) >= known[kind] for kind in BY_NAME):
        filled = _fold(store, filled, known)
    whole = _embed(store, mode, embedder, most)
    if whole and (most is None or filled.rows <= SMALL):
        store.connection.run(_finish)
    return filled


def _finish(db: Any) -> None:
    if db.execute("SELECT to_regclass('nebula_index.piece_near')").fetchone()[0] is None:
        db.execute("SELECT pg_advisory_xact_lock(%s, %s)", lock_of("index"))
        db.execute("SET LOCAL maintenance_work_mem = '1GB'")
        db.execute("SELECT nebula_index.finish()")


def clear(store: PostgresStore) -> None:
    """Throw all of it away."""
    store.connection.run(lambda db: db.execute("SELECT nebula_index.clear()"))


# rows


def _add_rows(store: PostgresStore, filled: Filled, mode: Mode, most: int | None) -> Filled:
    left = most
    while left is None or left > 0:
        step = STEP if left is None else min(STEP, left)
        now, before = store.connection.run(read)
        if before:
            assert now is not None
            filled = now
        following, part, count = _next(store, filled, mode, step)
        if not count:
            break
        left = None if left is None else left - count
        if _write(store, before, following, part, filled.rows):
            filled = following
    return filled


def _next(store: PostgresStore, filled: Filled, mode: Mode, step: int) -> tuple[Filled, Mapping[str, Array], int]:
    """The state and the rows after the next `step` lines, and how many lines they were."""
    table = ServedTable(store.connection, filled.rows, filled.terms)
    consumed, count, arrivals = dict(filled.consumed), 0, []
    for kind, end in ends(store, list(BY_NAME)).items():
        start = consumed.get(kind, 0)
        if end <= start or count >= step:
            continue
        found = store.scan(kind, start, step - count)
        stones = store.erased(kind) if start and store.stamp(kind)[2] else []  # in no row, and their ids are taken
        arrivals += segments.name_lines(kind, found.lines, table, [stone["id"] for stone in stones])
        count += found.consumed - start
        consumed[kind] = found.consumed
    arrivals.sort(key=lambda a: (a.memory.seconds, LEDGER_CODE[a.memory.ledger], a.offset))
    part = segments.words_alone(arrivals, mode)
    terms = filled.terms + int(part["terms"].sum())
    return replace(filled, rows=filled.rows + len(arrivals), terms=terms, consumed=consumed), part, count


def _write(store: PostgresStore, before: bytes, after: Filled, part: Mapping[str, Array], first: int) -> bool:
    """Write rows and the state that counts them, where the state is still as it was; -> whether it was."""
    n = len(part["id"])
    hashes, at = np.unique(part["text"], return_index=True)
    blocks = _blocks(part, first)

    def work(db: Any) -> bool:
        if not _take(db, before, after):
            return False
        if n:
            rows = {"r": np.arange(first, first + n, dtype=np.int32), **{name: part[name] for name in DTYPES}}
            wire.put(db, "nebula_index.memory", CELLS, wire.dump(rows))
            wire.put(db, "nebula_index.posting", "term, first, count, body", blocks)
            db.execute(
                "INSERT INTO nebula_index.waiting SELECT * FROM unnest(%s::bigint[], %s::int[]) AS given (hash, r)"
                " WHERE NOT EXISTS (SELECT FROM nebula_index.piece WHERE piece.hash = given.hash)"
                " ON CONFLICT DO NOTHING",
                [hashes.view(np.int64).tolist(), (first + at).tolist()],
            )
        return True

    return store.connection.run(work)


def _take(db: Any, before: bytes, after: Filled) -> bool:
    """Take the lock and put the next state in the place of the one that was read; False where it is another by now."""
    import orjson

    db.execute("SELECT pg_advisory_xact_lock(%s, %s)", lock_of("index"))
    db.execute("SET LOCAL synchronous_commit TO off")  # lost, it is filled again
    if read(db)[1] != before:
        return False
    db.execute(
        "INSERT INTO nebula_index.state (format, filled, floor) VALUES (%s, %s, '{}') ON CONFLICT (one)"
        " DO UPDATE SET format = excluded.format, filled = excluded.filled",
        [INDEX_FORMAT, orjson.dumps(asdict(after))],
    )
    return True


def _blocks(part: Mapping[str, Array], first: int) -> bytes:
    """The runs of a part's tokens as blocks, none over more than BLOCK rows; a part is no longer than that."""
    starts, rows = part["post_starts"], part["post_rows"]
    firsts = first + rows[starts[:-1]]
    within = rows + first - np.repeat(firsts, np.diff(starts))
    return wire.postings(part["post_terms"], firsts, starts, within, part["post_tf"], part["terms"][rows])


# changes


def tail(store: PostgresStore, filled: Filled, known: Mapping[str, int] | None = None) -> dict[str, list[Line]]:
    """The lines of the side ledgers that are not folded into the rows; `known`: where the ledgers end."""
    found = ends(store, FOLDED) if known is None else known
    behind = {name: filled.folded.get(name, 0) for name in FOLDED}
    return {name: list(store.scan(name, start).lines) if found[name] > start else [] for name, start in behind.items()}


def is_much(lines: Mapping[str, Sequence[Line]]) -> bool:
    """Whether changes are to be folded for good: they are many, or an undo reaches back."""
    undone = any("undo" in line.obj for found in lines.values() for line in found)
    return undone or sum(map(len, lines.values())) > CHANGES


def _fold(store: PostgresStore, filled: Filled, known: Mapping[str, int]) -> Filled:
    """Fold the changes before the `known` ends into the rows, where they are much."""
    lines = {name: [line for line in found if line.offset < known[name]] for name, found in tail(store, filled).items()}
    if not is_much(lines):
        return filled
    now, before = store.connection.run(read)
    if now is None or now.folded != filled.folded:  # another host did
        return now or filled
    objects = [line.obj for found in lines.values() for line in found]
    table, strings = ServedTable(store.connection, now.rows, now.terms), state.Strings()
    anew = any("undo" in obj for obj in objects)
    if anew:  # from the first line on, over what the memories' own lines say
        objects = [line.obj for name in FOLDED for line in store.scan(name).lines if line.offset < known[name]]
    deltas = changes.fold(objects)
    if anew:
        everything = changes.fold({**obj, "run": ""} for obj in objects)  # also what the undone runs had touched
        rows = np.array(sorted(state.rows_of(table, list(everything)).values()), np.int64)
        _as_written(store, table, rows)
    else:
        rows = np.array(sorted(state.rows_of(table, list(deltas)).values()), np.int64)
        strings |= _strings(store, rows)
        table.need(rows)
    state.lay_over(table, strings, deltas)
    folded = {name: found[-1].offset + 1 if found else now.folded.get(name, 0) for name, found in lines.items()}
    after = replace(now, folded=folded)
    return after if store.connection.run(lambda db: _update(db, before, after, table, rows, strings)) else filled


def _strings(store: PostgresStore, rows: Array) -> state.Strings:
    import orjson

    query = "SELECT r, body FROM nebula_index.strings WHERE r = ANY(%s)"
    found = store.connection.run(lambda db: db.execute(query, [rows.tolist()], binary=True).fetchall(), single=True)
    return {row: orjson.loads(body) for row, body in found}


def _as_written(store: PostgresStore, table: ServedTable, rows: Array) -> None:
    """Lay over some rows what their own lines say."""
    for row in rows.tolist():
        found = columns([memory], [(0, 0)], [0], [0]) if (memory := _memory(store, table, row)) else {}
        for name in CHANGEABLE if found else ():
            table.put(row, name, found[name][0])


def _memory(store: PostgresStore, table: ServedTable, row: int) -> Any:
    from nebula.index.view import read_line

    return read_line(store, table, row)


def _update(db: Any, before: bytes, after: Filled, table: ServedTable, rows: Array, strings: state.Strings) -> bool:
    import orjson

    if not _take(db, before, after):
        return False
    every = {"r": rows.astype(np.int32), **{name: table.values(name, rows) for name in DTYPES}}
    waits = wire.laid_by(db, "nebula_index.memory", CELLS, wire.dump(every))
    sets = ", ".join(f"{name} = changed.{name}" for name in CHANGEABLE)
    query = f"UPDATE nebula_index.memory AS m SET {sets} FROM {waits} AS changed WHERE m.r = changed.r"  # noqa: S608 - names of ours
    db.execute(query)
    db.execute("DELETE FROM nebula_index.strings WHERE r = ANY(%s)", [rows.tolist()])
    db.cursor().executemany(
        "INSERT INTO nebula_index.strings VALUES (%s, %s)",
        [(row, orjson.dumps(fields)) for row, fields in strings.items()],
    )
    return True


# vectors


def _embed(store: PostgresStore, mode: Mode, embedder: Embedder, most: int | None) -> bool:
    """Give waiting texts their vectors: those that are lent, then new ones within the embedder's limit.

    -> whether none waits.
    """
    left, taken, after = embedder.limit, 0, -1
    made = 0
    while most is None or taken < most:
        waiting = store.connection.run(lambda db, after=after: _waiting(db, after))  # type: ignore[misc]
        if not waiting:
            return not _lacks(store)
        after, taken = waiting[-1][1], taken + len(waiting)
        found = vectors.fetch(store.connection, embedder.key, WIDE, [key for key, *_ in waiting])
        chosen = []
        for key, row, kind, place, length in waiting:
            if key not in found and (left is None or length <= left):
                chosen.append((key, row, kind, place))
                left = None if left is None else left - length
        texts = _texts(store, chosen, mode)
        if texts:
            found |= dict(zip(texts, embedder.embed(list(texts.values())), strict=True))
        if found:
            store.connection.run(lambda db, found=found: _add_pieces(db, found))  # type: ignore[misc]
        made += len(waiting)
        if embedder.progress:
            embedder.progress(made, made)
    return False


#: The size of the vectors that the tables hold.
WIDE = 512


def _lacks(store: PostgresStore) -> bool:
    query = "SELECT FROM nebula_index.waiting LIMIT 1"
    return bool(store.connection.run(lambda db: db.execute(query).fetchall(), single=True))


def _waiting(db: Any, after: int) -> list[tuple[int, int, str, int, int]]:
    query = (
        "SELECT w.hash, w.r, m.ledger, m.place, m.length FROM nebula_index.waiting AS w"
        " JOIN nebula_index.memory AS m ON m.r = w.r WHERE w.r > %s ORDER BY w.r LIMIT %s"
    )
    rows = db.execute(query, [after, TEXTS], binary=True).fetchall()
    return [(key, row, LEDGERS[ledger].name, place, length) for key, row, ledger, place, length in rows]


def _texts(store: PostgresStore, chosen: Iterable[tuple[int, int, str, int]], mode: Mode) -> dict[int, str]:
    """The texts as they are searched, by their hashes."""
    import orjson

    wanted = {(kind, place): key for key, _, kind, place in chosen}
    query = (
        "SELECT line.kind, line.n, line.line FROM unnest(%s::text[], %s::bigint[]) AS given (kind, n)"
        " JOIN nebula.line ON line.kind = given.kind AND line.n = given.n"
    )
    given = [[kind for kind, _ in wanted], [place for _, place in wanted]]
    rows = store.connection.run(lambda db: db.execute(query, given, binary=True).fetchall(), single=True)
    found = {}
    for kind, place, raw in rows:
        memory = from_object(kind, orjson.loads(raw.removeprefix(b"\xef\xbb\xbf")))
        found[wanted[kind, place]] = segments.as_searched(memory, mode)
    return found


def _add_pieces(db: Any, found: Mapping[int, Array]) -> None:
    keys = np.repeat(np.array(list(found), np.int64), [len(pieces) for pieces in found.values()])
    parts = np.concatenate([np.arange(len(pieces)) for pieces in found.values()])
    whole = np.concatenate(list(found.values()))
    db.execute("SELECT pg_advisory_xact_lock(%s, %s)", lock_of("index"))
    db.execute("SET LOCAL synchronous_commit TO off")
    left = "DELETE FROM nebula_index.waiting WHERE hash = ANY(%s) RETURNING hash"
    mine = np.array([key for (key,) in db.execute(left, [list(found)], binary=True)], np.int64)
    kept = np.isin(keys, mine)  # the others were added by another host meanwhile
    if kept.any():
        data = wire.vectors(keys[kept], parts[kept], whole[kept])
        wire.put(db, "nebula_index.piece", "hash, part, v", data)
