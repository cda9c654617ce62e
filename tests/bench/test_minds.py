"""The invented minds say what they claim to: the newest version is the newest, and the bench reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.bench import recall as bench
from tests.bench import minds

if TYPE_CHECKING:
    from pathlib import Path


def test_the_same_seed_makes_the_same_minds(tmp_path: Path) -> None:
    made = minds.make()
    assert made == minds.make()
    assert made != minds.make(seed=minds.SEED + 1)
    minds.write(tmp_path, made)
    found = bench.read_set(tmp_path)
    assert len(found.queries) == len(made.queries) == 396
    assert len(found.memories) == 2 * minds.MINDS


def test_gold_is_what_holds_now_and_stale_is_older() -> None:
    made = minds.make()
    at = {memory["id"]: memory["at"] for memory in made.memories}
    for query in made.queries:
        newest = set(query["gold"]) - set(query["stale"])
        if query["category"].startswith("now"):
            assert len(newest) == 1
            assert query["stale"]
        assert all(at[old] <= at[one] for old in query["stale"] for one in newest)
        assert query["gold"]


def test_a_value_that_was_replaced_is_told_in_every_way() -> None:
    """Neither wording nor place tells the newest: both kinds come, and old facts are old."""
    made = minds.make()
    at = {memory["id"]: memory["at"] for memory in made.memories}
    categories = [query["category"] for query in made.queries]
    assert {"now, told alike", "now, told otherwise", "again", "old", "before"} == set(categories)
    assert min(categories.count("now, told alike"), categories.count("now, told otherwise")) > 40
    assert all(at[one] < "2025-01-01" for q in made.queries if q["category"] == "old" for one in q["gold"])
