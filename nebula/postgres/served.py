"""The parts of an index that lie on the server, each asked for what a recall looks at and for nothing else.

They stand in the places of a host's own parts (index.table, index.postings, index.vectors) with the same row for the
same memory in each, so the routes, their scores and all that follows are the code that searches a folder.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index.postings import Postings
from nebula.index.table import DTYPES, Table
from nebula.index.vectors import ABSENT, Vectors
from nebula.index.view import Index
from nebula.mindlib.record import LEDGER_CODE
from nebula.postgres import vectors as lent
from nebula.postgres import wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.state import Strings
    from nebula.index.vectors import Score
    from nebula.postgres.connection import Connection

    Array = NDArray[Any]

#: A memory's columns on the server by their names in an index; its row is beside them.
COLUMNS = {name: {"offset": "place"}.get(name, name) for name in DTYPES}
#: Postings that one question may take from the server, 8 bytes each. Of words in more rows the commonest are left out.
MOST_POSTINGS = 4_000_000
#: Pieces that pgvector is asked for in each direction, and how many candidates it keeps while it looks (its greatest).
NEAREST, EF_SEARCH = 400, 1000
#: Directions that are looked into: a long dialogue's last sentences.
DIRECTIONS = 24
#: Eligible rows up to which their vectors are all compared, without candidates.
FEW = 400
#: Pieces that an exact answer to "what is nearest at all" is chosen from.
CLEAREST = 8


class ServedTable(Table):
    """The rows' columns: cells are fetched for the rows that are looked at, a whole column only if one is asked for."""

    def __init__(self, connection: Connection, n: int, terms: int) -> None:
        super().__init__([], {})
        self.n = n
        self._connection = connection
        self._terms = terms
        #: Tokens of a row, of those alone that postings were fetched of; int32 [n].
        self.lengths = np.zeros(n, np.int32)
        self._rows = np.zeros(0, np.int64)
        self._cells: dict[str, Array] = {name: np.zeros(0, kind) for name, kind in DTYPES.items()}

    @property
    def mean_length(self) -> float:
        """Tokens of a row's text in the mean."""
        return self._terms / self.n if self.n else 0.0

    @property
    def laid(self) -> Mapping[str, Mapping[int, Any]]:
        """What later changes laid over rows, by column."""
        return self._laid

    @property
    def known(self) -> Sequence[int]:
        """The rows whose cells were fetched."""
        return self._rows.tolist()

    def need(self, rows: Array) -> None:
        """Fetch all that are not here yet, at once."""
        lacking = np.setdiff1d(rows[(rows >= 0) & (rows < self.n)], self._rows)
        if not len(lacking):
            return
        names = ", ".join(COLUMNS.values())
        query = f"SELECT r, {names} FROM nebula_index.memory WHERE r = ANY(%s)"  # noqa: S608 - names of ours
        kinds = {"r": np.int32, **DTYPES}
        found = self._connection.run(lambda db: wire.fetch(db, query, [lacking.tolist()], kinds), single=True)
        every = np.concatenate([self._rows, found.pop("r").astype(np.int64)])
        order = np.argsort(every)
        self._rows = every[order]
        self._cells = {name: np.concatenate([self._cells[name], found[name]])[order] for name in DTYPES}

    def values(self, name: str, rows: Array) -> Array:
        """Some rows' values of a column."""
        rows = np.asarray(rows, np.int64)
        if not len(rows):
            return np.zeros(0, DTYPES[name])
        self.need(rows)
        found: Array = self._cells[name][self._rows.searchsorted(rows)]
        laid = self._laid.get(name, {})
        for at, row in enumerate(rows.tolist() if laid else ()):
            found[at] = laid.get(row, found[at])
        return found

    def value(self, name: str, row: int) -> Any:
        """One row's value of a column."""
        return self.values(name, np.array([row]))[0]

    def column(self, name: str) -> Array:
        """One value a row: of `terms` those that are known, of any other column all of it, which costs its bytes."""
        if name == "terms":
            return self.lengths
        query = f"SELECT r, {COLUMNS[name]} FROM nebula_index.memory WHERE r < %s"  # noqa: S608 - names of ours
        kinds = {"r": np.int32, name: DTYPES[name]}
        found = self._connection.run(lambda db: wire.fetch(db, query, [self.n], kinds), single=True)
        whole = np.zeros(self.n, DTYPES[name])
        whole[found["r"]] = found[name]
        for row, value in self._laid.get(name, {}).items():
            whole[row] = value
        return whole

    def rows_where(self, condition: str, values: Sequence[object], order: str = "") -> Array:
        """The rows of which something holds, int64."""
        query = f"SELECT r FROM nebula_index.memory WHERE r < %s AND ({condition}) {order}"  # noqa: S608 - names of ours
        given = [self.n, *values]
        found = self._connection.run(lambda db: wire.fetch(db, query, given, {"r": np.int32}), single=True)
        return found["r"].astype(np.int64)

    def with_text(self, hash_: int) -> Array:
        """The rows that have a text, ascending."""
        return self.rows_where("text = %s", [signed(hash_)], "ORDER BY r")

    def at_turns(self, session: Array, turn: Array) -> Array:
        """The row at each turn of a session, -1 where there is none."""
        query = (
            "SELECT given.at::int, m.r"
            " FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS given (session, turn, at)"
            " JOIN nebula_index.memory AS m ON m.session = given.session AND m.turn = given.turn"
            " WHERE m.session <> 0 AND m.r < %s ORDER BY m.r"
        )
        given = [session.view(np.int64).tolist(), turn.tolist(), self.n]
        kinds = {"at": np.int32, "r": np.int32}
        rows = self._connection.run(lambda db: wire.fetch(db, query, given, kinds), single=True)
        found = np.full(len(session), -1, np.int64)
        found[rows["at"] - 1] = rows["r"]
        return found

    def _looked_up(self, name: str, wanted: Array) -> Array:
        """The first row of each key, -1 where none has it."""
        if name == "uid":
            query = (
                "SELECT uid AS a, uid AS b, min(r) FROM nebula_index.memory WHERE uid = ANY(%s) AND r < %s GROUP BY uid"
            )
            first, second = wanted, wanted
        else:
            query = (
                "SELECT id, ledger::bigint, min(r) FROM nebula_index.memory"
                " WHERE id = ANY(%s) AND NOT repeated AND r < %s GROUP BY id, ledger"
            )
            first, second = wanted & np.uint64((1 << 56) - 1), wanted >> np.uint64(56)
        given = [first.view(np.int64).tolist(), self.n]
        kinds = {"a": np.uint64, "b": np.uint64, "r": np.int32}
        rows = self._connection.run(lambda db: wire.fetch(db, query, given, kinds), single=True)
        known = dict(zip(zip(rows["a"].tolist(), rows["b"].tolist(), strict=True), rows["r"].tolist(), strict=True))
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        found = np.array([known.get(pair, -1) for pair in pairs], np.int64)
        self.need(found)  # all at once: they are looked at next
        return found


class ServedPostings(Postings):
    """The runs of the terms that were fetched; where they fill the table's lengths in."""

    def __init__(self, connection: Connection, table: ServedTable) -> None:
        super().__init__([], [])
        object.__setattr__(self, "_own", (connection, table))
        object.__setattr__(self, "_known", {})

    def fetch(self, terms: Sequence[int]) -> None:
        """Take the runs of some terms from the server, the rarest first, as many as MOST_POSTINGS lets."""
        connection, table = self._own  # type: ignore[attr-defined]
        known: dict[int, Any] = self._known  # type: ignore[attr-defined]
        asked = [term for term in dict.fromkeys(terms) if term not in known]
        if not asked:
            return
        counted = "SELECT term, sum(count) FROM nebula_index.posting WHERE term = ANY(%s) AND first < %s GROUP BY term"
        taken = "SELECT term, first, body FROM nebula_index.posting WHERE term = ANY(%s) AND first < %s ORDER BY 1, 2"

        def work(db: Any) -> tuple[dict[int, int], list[tuple[int, int, bytes]]]:
            keys = [signed(term) for term in asked]
            counts = {key: int(df) for key, df in db.execute(counted, [keys, table.n], binary=True)}
            chosen: list[int] = []
            total = 0
            for key in sorted(counts, key=lambda key: counts[key]):
                total += counts[key]
                if total <= MOST_POSTINGS or not chosen:
                    chosen.append(key)
            return counts, db.execute(taken, [chosen, table.n], binary=True).fetchall()

        counts, blocks = connection.run(work)
        known.update({term: (counts.get(signed(term), 0), []) for term in asked})
        for key, first, body in blocks:
            count = len(body) // 8
            within = np.frombuffer(body, "<u2", count)
            tf = np.frombuffer(body, "<u2", count, 2 * count)
            inside = within < table.n - first  # rows that came after the state was read are not there yet
            table.lengths[first + within[inside].astype(np.int64)] = np.frombuffer(body, "<i4", count, 4 * count)[
                inside
            ]
            known[key & (2**64 - 1)][1].append((first, within[inside].astype(np.int32), tf[inside]))

    def spans(self, term: int) -> Iterator[tuple[int, Array, Array]]:
        """See Postings.spans."""
        self.fetch([term])
        yield from self._known[term][1]  # type: ignore[attr-defined]

    def count(self, term: int) -> int:
        """How many rows hold a term, also one whose run was left out."""
        self.fetch([term])
        found: int = self._known[term][0]  # type: ignore[attr-defined]
        return found


class ServedVectors(Vectors):
    """Candidates by pgvector; their vectors whole, and so their scores, from `nebula.vector`."""

    def __init__(self, connection: Connection, table: ServedTable, model: str, dimensions: int) -> None:
        super().__init__([], table.n)
        self.connection, self._table = connection, table
        self.model, self.dimensions = model, dimensions
        self._pieces: dict[int, Array | None] = {}
        #: Where the next `best` looks: vectors [m, d] of which one is near to what scores high.
        self.directions: Array | None = None

    @cached_property
    def present(self) -> Array:
        """Which rows have a vector, bool [n]."""
        query = (
            "SELECT m.r FROM nebula_index.waiting AS w JOIN nebula_index.memory AS m ON m.text = w.hash WHERE m.r < %s"
        )
        lacking = self.connection.run(lambda db: wire.fetch(db, query, [self.n], {"r": np.int32}), single=True)
        found = np.ones(self.n, np.bool_)
        found[lacking["r"]] = False
        return found

    def best(self, queries: Array, eligible: Array, k: int, score: Score) -> tuple[Array, Array]:
        """As Vectors.best, over the rows of the nearest pieces in each direction; over all where few are eligible."""
        count = int(eligible.sum())
        if not count:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        if count <= FEW:
            rows = np.flatnonzero(eligible)
        else:
            rows = self._near(queries if self.directions is None else self.directions, eligible, k)
        vectors, owner = self.of_rows(rows)
        found = np.full(len(rows), ABSENT, np.float32)
        if len(owner):
            # as a folder's index multiplies it: the last bits are the same
            cosines = (vectors @ queries[0])[:, None] if len(queries) == 1 else vectors @ queries.T
            np.maximum.at(found, owner, score(cosines))
        return rows[found > ABSENT], found[found > ABSENT]

    def _near(self, directions: Array, eligible: Array, k: int) -> Array:
        """Eligible rows of the nearest pieces, at least k where there are so many; ascending."""
        most = NEAREST
        while True:
            hashes = self.hashes(directions, most)
            rows = self._table.rows_where("text = ANY(%s)", [np.unique(hashes).view(np.int64).tolist()], "ORDER BY r")
            rows = rows[eligible[rows]]
            if len(rows) >= k or len(hashes) < most * len(directions) or most > self.n:
                return rows
            most *= 8

    def hashes(self, directions: Array, most: int) -> Array:
        """The texts of the nearest pieces in each direction, `most` each, uint64."""
        query = (
            "SELECT given.at::int, near.hash FROM unnest(%s::halfvec[]) WITH ORDINALITY AS given (v, at)"
            " CROSS JOIN LATERAL (SELECT hash FROM nebula_index.piece ORDER BY piece.v <#> given.v LIMIT %s) AS near"
        )
        given = ["[" + ",".join(f"{x:.6f}" for x in one) + "]" for one in directions.tolist()]
        kinds = {"at": np.int32, "hash": np.uint64}

        def work(db: Any) -> dict[str, Array]:
            db.execute(f"SET LOCAL hnsw.ef_search = {min(EF_SEARCH, max(40, most))}")
            db.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
            return wire.fetch(db, query, [given, most], kinds)

        return self.connection.run(work)["hash"]

    def clearest(self, queries: Array) -> Array:
        """The best cosine of each query with any row; -1 where no row has a vector."""
        found = np.full(len(queries), -1.0, np.float32)
        hashes = np.unique(self.hashes(queries, CLEAREST))
        self._fetch(hashes)
        pieces = [piece for key in hashes.tolist() if (piece := self._pieces[key]) is not None]
        return (np.concatenate(pieces) @ queries.T).max(axis=0) if pieces else found

    def of_rows(self, rows: Array) -> tuple[Array, Array]:
        """The pieces of some rows: vectors [p, d] and, ascending, the position in `rows` that each belongs to."""
        keys = self._table.values("text", rows)
        self._fetch(np.unique(keys))
        parts, owner = [np.zeros((0, self.dimensions), np.float32)], [np.zeros(0, np.int64)]
        for at, key in enumerate(keys.tolist()):
            piece = self._pieces[key]
            if piece is not None:
                parts.append(piece)
                owner.append(np.full(len(piece), at))
        return np.concatenate(parts), np.concatenate(owner)

    def _fetch(self, hashes: Array) -> None:
        lacking = [key for key in hashes.tolist() if key not in self._pieces]
        for start in range(0, len(lacking), lent.CHUNK):
            keys = lacking[start : start + lent.CHUNK]
            found = lent.fetch(self.connection, self.model, self.dimensions, [signed(key) for key in keys])
            self._pieces |= {key: found.get(signed(key)) for key in keys}


class ServedIndex(Index):
    """The view that a recall searches. Edges are kept by hosts' own indexes alone."""

    table: ServedTable
    vectors: ServedVectors

    def __init__(self, store: Any, table: ServedTable, vectors: ServedVectors, strings: Strings) -> None:
        super().__init__(store, table, [], vectors, strings)
        self._postings = ServedPostings(vectors.connection, table)

    @property
    def postings(self) -> ServedPostings:
        """The lexical runs."""
        return self._postings

    def memory(self, row: int) -> Any:
        """The memory of a row as it stands; None where its line is no longer there."""
        self._need_strings(row)
        return super().memory(row)

    def find(self, ref: str) -> Any:
        """A memory by its ref; None where there is none."""
        row = self.row(ref)
        return self.memory(row) if row >= 0 else None

    def of_session(self, session: int) -> list[Any]:
        """The memories of a conversation, by its hash."""
        rows = self.table.rows_where("session = %s AND session <> 0", [signed(session)], "ORDER BY r").tolist()
        return [memory for row in rows if (memory := self.memory(row)) is not None]

    def _need_strings(self, row: int) -> None:
        """Fetch what changes made of a row, and of all that were looked at, that no column holds.

        What is laid over here already stays above it.
        """
        import orjson

        if row in self._asked:
            return
        lacking = [one for one in {row, *self.table.known} if one not in self._asked]
        query = "SELECT r, body FROM nebula_index.strings WHERE r = ANY(%s)"
        found = self.vectors.connection.run(
            lambda db: db.execute(query, [lacking], binary=True).fetchall(), single=True
        )
        for other, body in found:
            self.strings[other] = {**orjson.loads(body), **self.strings.get(other, {})}
        self._asked.update(lacking)

    @cached_property
    def _asked(self) -> set[int]:
        return set()

    def nearest_of(self, ref: str, ledger: str) -> tuple[str, float] | None:
        """See Index.nearest_of; the three nearest of the pieces that pgvector finds."""
        row = self.row(ref)
        own, _ = self.vectors.of_rows(np.array([row])) if row >= 0 else (np.zeros((0, 0)), None)
        if not len(own):
            return None
        hashes = np.unique(self.vectors.hashes(own, CLEAREST)).view(np.int64).tolist()
        rows = self.table.rows_where("text = ANY(%s)", [hashes], "ORDER BY r")
        rows = rows[rows != row]
        theirs, owner = self.vectors.of_rows(rows)
        cosine = np.full(len(rows), ABSENT, np.float32)
        np.maximum.at(cosine, owner, (theirs @ own.T).max(axis=1))
        value = self.table.values
        for at in np.lexsort((self.table.order_of(rows), -np.round(cosine, 5)))[:3].tolist():
            other = rows[at : at + 1]
            holds = value("valid_to", other)[0] > value("at", other)[0]
            if holds and value("ledger", other)[0] == LEDGER_CODE[ledger]:
                return self.ref(int(other[0])), float(cosine[at])
        return None


def signed(hash_: int) -> int:
    """64 bits as the server has them."""
    return hash_ - (1 << 64) if hash_ >> 63 else hash_
