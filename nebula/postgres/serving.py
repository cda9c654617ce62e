"""Whether a mind's recalls are answered on the server, and what an operation needs of it there (`postgres.recall`).

`host`: never. `server`: always where it can, and this host writes no index. `auto`: where this host's own index lacks
much: a recall at once beats half an hour of reading.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from nebula import calibration
from nebula.errors import LockedTooLong, NebulaError, StoreRefused
from nebula.index import manifest, state
from nebula.mindlib import changes
from nebula.mindlib.record import BY_NAME
from nebula.postgres import filling
from nebula.postgres.filling import WIDE, Filled
from nebula.postgres.served import ServedIndex, ServedTable, ServedVectors
from nebula.postgres.store import PostgresStore
from nebula.results import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.ledger import Line
    from nebula.postgres.filling import Looked
    from nebula.recall.floor import Nulls

#: Lines or vectors that a host's own index may lack and still be the quicker way, and that an operation on the server
#: fills in on its way; more wants `embed --build`.
FEW = 5_000


def on_server(mind: Mind) -> bool:
    """Whether the setting says that nothing is kept on this host."""
    return isinstance(mind.store, PostgresStore) and mind.settings.postgres.recall == "server"


def takes_part(mind: Mind) -> bool:
    """Whether what is derived on the server is to follow what this host writes."""
    return isinstance(mind.store, PostgresStore) and mind.settings.postgres.recall != "host"


def opened(mind: Mind) -> tuple[ServedIndex | None, list[Notice]]:
    """What a recall searches on the server, as new as the ledgers; None where this host's own index is the way.

    A notice where the setting asks for the server and it can't be. Raises StoreUnreachable.
    """
    from nebula.mind import CATCH_UP_BYTES

    store, recall = mind.store, mind.settings.recall
    if not takes_part(mind) or not isinstance(store, PostgresStore):
        return None, []
    if on_server(mind):
        found, told = _brought_up(mind, store, store.connection.run(filling.look), CATCH_UP_BYTES)
        return found, [*told, *_left_out(mind)] if found else told
    if recall.w_graph or recall.second_encoder:
        return None, []
    looked = store.connection.run(filling.look)
    if (
        not looked.able
        or looked.filled is None
        or _own_lacks(mind, store, looked) <= max(FEW, looked.lacks(looked.filled))
    ):
        return None, []
    return _brought_up(mind, store, looked, CATCH_UP_BYTES)


def _left_out(mind: Mind) -> list[Notice]:
    """What the settings ask for and only a host's own index has."""
    recall = mind.settings.recall
    asked = [name for name, value in (("w_graph", recall.w_graph), ("second_encoder", recall.second_encoder)) if value]
    return [Notice("server_without", {"settings": " ".join(f"recall.{name}" for name in asked)})] if asked else []


def view(store: PostgresStore, filled: Filled, lines: Mapping[str, Sequence[Line]]) -> ServedIndex:
    """The served parts as one index, with the changes laid over that are not folded."""
    table = ServedTable(store.connection, filled.rows, filled.terms)
    strings = state.Strings()
    found = ServedIndex(store, table, ServedVectors(store.connection, table, filled.model, WIDE), strings)
    state.lay_over(table, strings, changes.fold(line.obj for several in lines.values() for line in several))
    return found


def _own_lacks(mind: Mind, store: PostgresStore, looked: Looked) -> int:
    """How many lines or vectors this host's own index lacks."""
    found = manifest.load(manifest.folder(store, mind.reading)) or manifest.Manifest()
    consumed = {name: found.sources[kind.file].consumed for name, kind in BY_NAME.items() if kind.file in found.sources}
    vectors = max(0, sum(found.rows.values()) - sum(found.vectors.values()))
    return looked.lacks(Filled("", "", consumed=consumed)) + vectors


def _brought_up(
    mind: Mind, store: PostgresStore, looked: Looked, limit: int | None
) -> tuple[ServedIndex | None, list[Notice]]:
    """What is served, after a few missing lines were filled in, or all without a `limit` of bytes to embed.

    None where the server can't answer, and why.
    """
    if not looked.able:
        return None, [Notice("server_unable")]
    mine = Filled(mind.reading, mind.encoder().key)
    found = looked.filled or mine
    if (found.reading, found.model) != (mine.reading, mine.model) or mind.encoder().dimensions != WIDE:
        return None, [Notice("server_otherwise")]
    lacks = looked.lacks(found)
    lines = filling.tail(store, found, looked.ends)
    if lacks > FEW and limit is not None:
        return view(store, found, lines), [Notice("server_behind", {"lacking": lacks})]
    if not looked.behind(found) and not filling.is_much(lines):
        return view(store, found, lines), []
    try:
        found = filling.fill(store, found, mind.cache().mode, mind.embedder(limit), None if limit is None else FEW)
    except (StoreRefused, LockedTooLong) as error:  # a role that may only read
        return view(store, found, lines), [Notice("index_behind", {"reason": error.message})]
    return view(store, found, filling.tail(store, found)), []


def follow(mind: Mind, limit: int | None) -> tuple[ServedIndex | None, list[Notice]]:
    """Fill in what was just written; what fails there is a notice."""
    if not takes_part(mind):
        return None, []
    store = mind.store
    assert isinstance(store, PostgresStore)
    try:
        looked = store.connection.run(filling.look)
        if looked.filled is None and not on_server(mind):  # begun by `embed --build`, the night, or who is set to it
            return None, []
        found, told = _brought_up(mind, store, looked, limit)
        return (found, told) if on_server(mind) else (None, [])
    except NebulaError as error:
        return None, [Notice("index_behind", {"reason": error.message})]


def build(mind: Mind, progress: Callable[[int, int], None] | None) -> ServedIndex | None:
    """Fill in all that is missing, anew where texts are read otherwise now; None where nothing can be kept there.

    Raises StoreUnreachable, StoreRefused, LockedTooLong.
    """
    store = mind.store
    if not takes_part(mind) or not isinstance(store, PostgresStore):
        return None
    looked = store.connection.run(filling.look)
    if not looked.able or mind.encoder().dimensions != WIDE:
        return None
    found = looked.filled
    mine = Filled(mind.reading, mind.encoder().key)
    if found is not None and (found.reading, found.model) != (mine.reading, mine.model):
        filling.clear(store)
        found = None
    filled = filling.fill(store, found or mine, mind.cache().mode, mind.embedder(None, progress), None)
    index = view(store, filled, filling.tail(store, filled))
    for kind in calibration.KINDS if mind.settings.recall.floor and index.table.n else ():
        nulls(mind, index, kind)
    return index


def nulls(mind: Mind, index: ServedIndex, kind: str) -> Nulls:
    """What queries about nothing find: kept beside what is filled, for every host; measured where it is not there."""
    import orjson

    recall, encoder = mind.settings.recall, mind.encoder()
    query = "SELECT floor FROM nebula_index.state"
    connection = index.vectors.connection
    row = connection.run(lambda db: db.execute(query, binary=True).fetchone(), single=True)
    kept = calibration.sound(row[0] if row else b"{}")
    key, n = calibration.key_of(encoder, recall), index.table.n
    found = calibration.held(kept.get(kind, {}), key, n)
    if found is not None:
        return found
    made = calibration.measure(index, calibration.stock(encoder, recall, kind), calibration.KINDS.index(kind), recall)
    body = orjson.dumps({**kept, kind: calibration.entry(made, key, n)})
    with contextlib.suppress(StoreRefused, LockedTooLong):  # measured again next time
        connection.run(lambda db: db.execute("UPDATE nebula_index.state SET floor = %s", [body]))
    return made
