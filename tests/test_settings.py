"""Reading and checking raw settings (spec 10): aliases, profiles, precedence, refusals."""

from __future__ import annotations

import pytest

from nebula.errors import BadValue, SettingsUnusable, UnknownSetting
from nebula.settings import RULES, Settings, build, check, flatten, origin, spread


def test_every_default_passes_its_own_rule() -> None:
    """And is left as it is."""
    flat = flatten(Settings())
    assert list(flat) == list(RULES)
    assert {key: check(key, value) for key, value in flat.items()} == flat
    assert build() == Settings()


@pytest.mark.parametrize(
    ("old", "key"),
    [
        ("w_bm25", "recall.w_lexical"),
        ("w_vec", "recall.w_dense"),
        ("w_graph", "recall.w_graph"),
        ("K", "recall.k"),
        ("A_hot", "forgetting.hot"),
        ("A_warm", "forgetting.warm"),
        ("A_deep", "forgetting.deep"),
    ],
)
def test_the_originals_names(old: str, key: str) -> None:
    """Each alias sets its key; the key itself wins over it."""
    section, _, name = key.partition(".")
    assert flatten(build({old: 0.125}))[key] == 0.125
    assert flatten(build({section: {name: 0.25}, old: 0.125}))[key] == 0.25


def test_flag_over_file_over_profile_over_default() -> None:
    """The profile `original` has β 1; a file sets above it, a flag above both, and `origin` says which."""
    raw = {"profile": "original", "recall": {"k": 30}}
    settings = build(raw, {"recall.w_dense": 0.5})
    assert (settings.recall.freshness, settings.recall.k, settings.recall.w_dense) == (1.0, 30.0, 0.5)
    keys = ("recall.freshness", "recall.k", "recall.w_dense", "graph.hops")
    assert [origin(key, raw, {"recall.w_dense": 0.5}) for key in keys] == ["profile", "file", "flag", "default"]


def test_unknown_keys_are_told_and_passed_over() -> None:
    """Kept in the file, named for doctor."""
    assert spread({"theme": 1, "recall": {"kk": 2, "k": 3}}) == ({"recall.k": 3}, ["theme", "recall.kk"])
    with pytest.raises(UnknownSetting):
        check("recall.kk", 1)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("recall.k", "12"),
        ("recall.k", True),
        ("recall.k", float("nan")),
        ("recall.layer_weights", [1, 1, 1, 1]),
        ("recall.ledger_weights", {"nots": 1}),
        ("recall.lowercase", 1),
        ("graph.hops", 0),
        ("graph.hops", 2.5),
        ("graph.d", 1),
        ("forgetting.half_base", 0),
        ("night.at", "24:00"),
        ("you.names", "你"),
        ("mood.provider", ["file"]),
        ("recall", 5),
        ("profile", "other"),
    ],
)
def test_a_wrong_value_is_refused(key: str, value: object) -> None:
    """By key when typed, as SettingsUnusable when it stands in the file."""
    with pytest.raises(BadValue):
        check(key, value)
    section, _, name = key.partition(".")
    with pytest.raises(SettingsUnusable):
        build({section: {name: value} if name else value})
