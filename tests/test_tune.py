"""tune: what is useless loses its weight, what is not sure is not written, and reset puts back what stood before."""

from __future__ import annotations

import hashlib
import json
import random
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nebula.cli import main
from nebula.errors import FileUnusable, NumpyMissing
from nebula.mind import Mind
from nebula.mindlib.record import Memory
from nebula.settings import flatten
from nebula.text import words
from nebula.text.keywords import content
from nebula.tuning import kept, mixture, queries
from nebula.tuning import tune as tuning
from nebula.tuning.mixture import Features, Weights
from tests.invented import WORDS, Drawn, DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nebula.recall.hit import Question

NOW = datetime(2026, 12, 2, 9)


class Nonsense(DrawnEncoder):
    """Vectors that say nothing: a query is near to whatever chance will have it."""

    key = "nonsense"

    def encode(self, texts: Sequence[str]) -> Drawn:
        seeds = [int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) for text in texts]
        made = np.array([np.random.default_rng(seed).normal(size=16) for seed in seeds], np.float32)
        return Drawn(made / np.linalg.norm(made, axis=1, keepdims=True), np.arange(len(texts)))


def lived(folder: Path, encoder: DrawnEncoder, n: int = 110, **settings: float) -> Mind:
    """A mind of invented notes with the same uids each time."""
    draw = random.Random(5)
    folder.mkdir()
    rows = [{"id": at, "at": "2026-11-01T09:00:00", "text": "，".join(draw.sample(WORDS, 6))} for at in range(1, n + 1)]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "notes.jsonl").write_text(lines, encoding="utf-8")
    if settings:
        (folder / "mind-config.json").write_text(json.dumps({"recall": settings, "mine": 1}), encoding="utf-8")
    mind = Mind(folder, now=lambda: NOW)
    mind._encoder = encoder  # type: ignore[assignment]
    return mind


def test_a_useless_route_loses_its_weight_and_reset_gives_it_back(tmp_path: Path) -> None:
    """Nonsense as vectors: apply turns it down, a second tune finds nothing more, reset is exact to the byte."""
    mind = lived(tmp_path / "mind", Nonsense(), w_dense=2.0)
    config = mind.folder / "mind-config.json"
    before, settings = json.loads(config.read_bytes()), flatten(mind.settings)
    found = tuning.tune(mind)
    assert found.measures["ndcg"].is_gain
    assert found.worth["recall.w_dense"] < 1.0 < 2.0 < found.worth["recall.w_lexical"]
    assert config.read_text() == json.dumps(before), "nothing is written yet"
    kept.apply(mind, found.worth)
    assert flatten(mind.settings) == {**settings, **found.worth}
    again = tuning.tune(mind)
    assert again.measures["ndcg"].before.mean == found.measures["ndcg"].after.mean
    assert again.worth == {}
    back, left = kept.reset(mind)
    assert (set(back), left) == (set(found.worth), [])
    assert json.loads(config.read_bytes()) == before
    assert flatten(Mind(mind.folder).settings) == settings
    assert not (mind.folder / kept.FILE).exists()
    assert kept.reset(mind) == ([], [])


def test_the_judging_half_is_asked_through_recall(tmp_path: Path) -> None:
    """The cached mixture puts every memory where recall does, by scores, by ranks and with a graph."""
    for number, more in enumerate(({}, {"w_graph": 0.4}, {"fusion": "ranks"})):
        mind = lived(tmp_path / f"mind{number}", DrawnEncoder(), 70, **more)  # type: ignore[arg-type]
        known = queries.known_items(mind.list(n=None).memories)
        assert len(known) >= 60
        for one in known[:12]:
            from nebula.recalling import Ask, seek

            found = seek(mind, Ask(one.query, 10))
            row = found.search.row(one.ref)
            rows = [candidate.row for candidate in found.found.candidates[:10]]
            expected = 1 / np.log2(2 + rows.index(row)) if row in rows else 0.0
            features = mixture.features(found.search, found.question, mind.settings, row)
            recall = mind.settings.recall
            assert mixture.gains(features, mixture.grid(recall)[:1], recall)[0] == pytest.approx(expected)


def test_weights_are_chosen_near_the_present_ones() -> None:
    """Of choices that are as good but for chance the nearest to the present; the present where nothing is better."""
    choices = [Weights(2, 1, 0, 12), Weights(3, 0, 0, 12), Weights(2.5, 0.5, 0, 12)]
    even = np.array([[1.0, 1.0, 1.0]] * 20)
    assert mixture.choose(even, choices) == 0
    better = np.array([[0.2, 1.0, 1.0]] * 20)
    assert mixture.choose(better, choices) == 2


def test_the_mixture_by_hand() -> None:
    """Two candidates: 2 · .5 + 1 · .2 = 1.2 against 2 · .1 + 1 · .9 = 1.1; without words the other is first."""
    parts = np.array([[0.5, 0.2, 0, 0, 0], [0.1, 0.9, 0, 0, 0]])
    found = Features(parts, parts > 0, np.ones(2), np.array([1, 2], np.uint64), 0)
    settings = Mind(Path("nowhere")).settings.recall
    gains = mixture.gains(found, [Weights(2, 1, 0, 12), Weights(0, 3, 0, 12)], settings)
    assert gains.tolist() == pytest.approx([1.0, 1 / np.log2(3)])
    assert mixture.gains(found._replace(gold=-1), [Weights(2, 1, 0, 12)], settings).tolist() == [0.0]


def test_known_items_are_not_the_texts_themselves() -> None:
    """Drawn anew the same; the rarest word lost; short ones, echoes and repetitions left out."""
    texts = [
        "灯塔的看守昨天换人了，新来的姓林，以前在青岛的天文台工作",
        "好的",
        "The ferry captain gave Melanie a map of tides",
    ]
    memories = [Memory("notes", at, "", text, uid=f"{at:016x}") for at, text in enumerate(texts * 2, start=1)]
    memories.append(Memory("notes", 9, "", texts[0] + "啊", via="回声", uid="9" * 16))
    known = queries.known_items(memories)
    assert known == queries.known_items(memories)
    assert len(known) == 2
    for one in known:
        text = next(memory.text for memory in memories if memory.ref == one.ref)
        assert one.query not in text or len(one.query) < len(text) / 2
        asked = set(content(one.query))
        rarest = max(content(text), key=words.table().idf)
        assert rarest not in asked
        assert asked


def test_a_floor_that_refuses_what_is_there_is_lowered(tmp_path: Path) -> None:
    """And only ever lowered: a floor of 0 stays."""
    found = tuning.tune(lived(tmp_path / "high", DrawnEncoder(), 70, floor=40.0))
    assert found.after["recall.floor"] < 40.0
    assert found.measures["answered"].is_gain
    assert found.worth["recall.floor"] == found.after["recall.floor"]
    found = tuning.tune(lived(tmp_path / "none", DrawnEncoder(), 60, floor=0.0))
    assert found.after["recall.floor"] == 0.0


def test_what_was_set_by_hand_since_is_left(tmp_path: Path) -> None:
    mind = Mind(tmp_path, now=lambda: NOW)
    mind.configure("recall.w_graph", 0.3)
    kept.apply(mind, {"recall.w_graph": 0.1, "recall.w_lexical": 2.5, "recall.floor": 1.0})
    kept.apply(mind, {"recall.w_graph": 0.2})
    mind.configure("recall.floor", 0.5)
    assert kept.reset(mind) == (["recall.w_graph", "recall.w_lexical"], ["recall.floor"])
    assert mind.store.config() == {"recall": {"w_graph": 0.3, "floor": 0.5}}
    (tmp_path / kept.FILE).write_text("[]")
    with pytest.raises(FileUnusable):
        kept.reset(mind)


def test_the_command(tmp_path: Path, mind_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Too few memories: exit 1 and nothing written; --reset without anything: exit 1; both options: exit 2."""
    assert main(["tune"]) == 1
    assert not mind_dir.exists()
    for _ in range(3):
        assert main(["add", "灯塔的看守昨天换人了，新来的姓林，以前在青岛的天文台工作"]) == 0
    capsys.readouterr()
    assert main(["tune", "--apply", "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["data"]["applied"] == {}
    assert "50" in said.err
    assert main(["tune", "--reset"]) == 1
    assert main(["tune", "--apply", "--reset"]) == 2
    assert not (mind_dir / kept.FILE).exists()
    assert not (mind_dir / "mind-config.json").exists()


def test_the_command_says_what_it_found(mind_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the bundled encoder: sixty notes are told at once by their words, so nothing is sure or written."""
    lived(mind_dir, DrawnEncoder(), 60)
    assert main(["tune", "--apply"]) == 0
    out = capsys.readouterr().out
    assert "nDCG@10" in out
    assert "recall.w_dense" in out
    if "设置保持原样" in out:
        assert not (mind_dir / kept.FILE).exists()
        assert not (mind_dir / "mind-config.json").exists()
    else:
        assert main(["tune", "--reset"]) == 0
        assert json.loads((mind_dir / "mind-config.json").read_bytes()) == {}


def test_it_needs_numpy(tmp_path: Path, lose_numpy: Callable[[], None]) -> None:
    lose_numpy()
    with pytest.raises(NumpyMissing):
        tuning.tune(Mind(tmp_path))


def test_a_floor_is_not_lowered_at_the_cost_of_silence() -> None:
    """What is answered more is no gain where as much that isn't there is answered too (Youden's index)."""
    from typing import cast

    from nebula.tuning.tune import Asked, _floor

    def asked(evidence: float, without: float) -> Asked:
        return Asked(cast("Question", None), 0, None, evidence, without)

    even = [asked(2.0, 0.2)] * 8 + [asked(1.2, 1.2)] * 4
    assert _floor(even, 1.6) == 1.6
    clear = [asked(2.0, 0.2)] * 8 + [asked(1.2, 0.4)] * 4
    assert _floor(clear, 1.6) == 1.2
    assert _floor(clear, 0.0) == 0.0


@pytest.mark.parametrize(
    "before",
    [None, b"{}", b'{"recall":{"floor":1.50,"k":10},"x":1}', b'\xef\xbb\xbf{\n    "echo": {"hours": 3}\n}\r\n'],
)
def test_reset_gives_the_settings_back_byte_for_byte(tmp_path: Path, before: bytes | None) -> None:
    """Also where there was no file, and where tune wrote twice; previously they came back in another form."""
    mind = Mind(tmp_path / "mind")
    mind.add("渡轮早上六点开")
    path = mind.folder / "mind-config.json"
    if before is not None:
        path.write_bytes(before)
    kept.apply(Mind(mind.folder), {"recall.floor": 0.9})
    kept.apply(Mind(mind.folder), {"recall.floor": 0.8, "recall.w_dense": 0.7})
    put_back, left = kept.reset(Mind(mind.folder))
    assert (sorted(put_back), left) == (["recall.floor", "recall.w_dense"], [])
    assert (path.read_bytes() if path.exists() else None) == before
    assert not (mind.folder / kept.FILE).exists()


def test_reset_after_an_apply_that_was_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was set goes back by its keys, what was set by hand meanwhile stays."""
    mind = Mind(tmp_path / "mind")
    mind.add("渡轮早上六点开")
    done: list[str] = []

    def dies(self: Mind, key: str, value: object) -> object:
        if done:
            raise KeyboardInterrupt
        done.append(key)
        return configure(self, key, value)

    configure = Mind.configure
    monkeypatch.setattr(Mind, "configure", dies)
    with pytest.raises(KeyboardInterrupt):
        kept.apply(mind, {"recall.floor": 0.9, "recall.w_dense": 0.7})
    monkeypatch.undo()
    Mind(mind.folder).configure("recall.k", 10)
    assert kept.reset(Mind(mind.folder)) == (["recall.floor"], [])
    assert json.loads((mind.folder / "mind-config.json").read_bytes()) == {"recall": {"k": 10}}
