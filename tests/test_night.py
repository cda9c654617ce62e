"""A night on a real mind: three printed lines, one run at a time, twice as once, finished after a kill, undone."""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import random
import sys
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from nebula import amend, clock, night
from nebula.life import forgetting
from nebula.life.consolidation import Mood
from nebula.mind import Mind
from nebula.mindlib import files
from nebula.mindlib.record import LEDGERS
from tests.invented import DrawnEncoder, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

NOW = datetime(2026, 5, 1, 22, 5)


def opened(folder: Path, now: datetime = NOW) -> Mind:
    mind = Mind(folder, now=lambda: now)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def fill(folder: Path, n: int = 24, seed: int = 1) -> None:
    """Memories of up to a year, a few of this day, some recalled twice, one pinned."""
    draw = random.Random(seed)
    for number in range(n):
        days = draw.choice([0.1, 0.2, 30, 90, 200, 400])
        fields: dict[str, Any] = {"imp": draw.choice([0.0, 0.5, 0.9]), "emo": draw.choice(["", "sad"])}
        mind = opened(folder, NOW - timedelta(days=days))
        mind.add(sentence(draw), pinned=number == 3, **fields)
    mind = opened(folder, NOW - timedelta(hours=1))
    for _ in range(2):
        mind.recall("灯塔看守", n=5)


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """What a reader sees: every memory but for names that are drawn, as they are written anew by each run."""
    told: dict[str, tuple[object, ...]] = {}
    for memory in Mind(folder).store.read_all().memories:
        told[memory.ref] = (memory.text, memory.depth, memory.w, memory.w_why, memory.sunken_at, memory.valid_to)
        told[memory.ref] += (memory.covers, memory.summarised, memory.captured)
    return told


def timeless(folder: Path) -> dict[str, list[object]]:
    """The same without the minute in which a night was done."""
    return {ref: [v for v in told if not str(v).startswith("2026-05-01T22:")] for ref, told in state(folder).items()}


def nominated(folder: Path) -> str:
    lines = [line.obj for line in Mind(folder).store.scan("changes.jsonl").lines]
    return str([line["night"]["nominated"] for line in lines if "night" in line][-1])


def test_it_does_the_five_steps(tmp_path: Path) -> None:
    """Layers by A, the recalled lifted and heavier, the jolted warm, a digest that marks its notes, a candidate."""
    fill(tmp_path)
    before = {m.ref: m for m in Mind(tmp_path).store.read_all().memories}
    done = night.consolidate(opened(tmp_path), Mood("sad", 0.6))
    after = {m.ref: m for m in Mind(tmp_path).store.read_all().memories}
    settings = opened(tmp_path).settings.forgetting
    seen = set()
    for ref, memory in before.items():
        a = forgetting.retention(
            forgetting.age_days(clock.seconds(NOW), memory.seconds),
            forgetting.half_life(settings, memory.ledger, memory.imp),
        )
        depth = forgetting.layer(a, settings, core=memory.pinned)
        if memory.hits >= 2 and depth:
            depth = max(1, depth - 1)
            seen.add("lifted")
            assert after[ref].w == pytest.approx(memory.w * 1.04)
            assert "想起×1.04" in after[ref].w_why
        elif depth >= 3 and memory.emo == "sad":
            depth = 2
            seen.add("jolted")
        assert after[ref].depth == depth
    assert seen == {"lifted", "jolted"}
    summary = after[done.summary]
    day = [m.ref for m in sorted(before.values(), key=lambda m: m.seconds) if m.seconds > clock.seconds(NOW) - 86400]
    assert list(summary.covers) == day
    assert all(after[ref].summarised == summary.ref for ref in day)
    assert all(part in "。".join(before[ref].text for ref in day) for part in summary.text.split("。") if part)
    assert after[nominated(tmp_path)].depth >= 3
    assert done.built is not None
    assert done.built.present == done.built.total == len(after)
    assert sum(done.plan.layers) == len(before)


def test_plan_shows_all_and_changes_nothing(tmp_path: Path) -> None:
    """Not a byte; and the night then does exactly that."""
    fill(tmp_path)
    opened(tmp_path).build()

    def ledgers() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")}

    before = ledgers()
    planned = night.plan(opened(tmp_path))
    assert ledgers() == before
    assert planned.changes
    assert night.consolidate(opened(tmp_path)).plan == planned


def test_twice_is_once(tmp_path: Path) -> None:
    """A second run, minutes later, writes no byte: no summary, no step of a layer (S16)."""
    fill(tmp_path)
    night.consolidate(opened(tmp_path), Mood("sad", 0.6))
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")}
    for minutes in (0, 5, 60):
        again = night.consolidate(opened(tmp_path, NOW + timedelta(minutes=minutes)))
        assert again.plan.is_empty
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")} == before


def test_the_next_night_layers_anew(tmp_path: Path) -> None:
    """What was lifted or jolted goes back to its A when nothing holds it any more."""
    fill(tmp_path)
    night.consolidate(opened(tmp_path), Mood("sad", 0.6))
    night.consolidate(opened(tmp_path, NOW + timedelta(days=1)))
    mind = opened(tmp_path, NOW + timedelta(days=1))
    for memory in mind.list(n=None).memories:
        a = forgetting.retention(
            forgetting.age_days(clock.seconds(mind.now()), memory.seconds),
            forgetting.half_life(mind.settings.forgetting, memory.ledger, memory.imp),
        )
        assert memory.depth == forgetting.layer(a, mind.settings.forgetting, core=memory.pinned)


def test_undo_takes_back_the_last_night_by_appending(tmp_path: Path) -> None:
    """Layers, weights and marks are as before; the summary is closed; no earlier byte changed; it can be run again."""
    fill(tmp_path)
    before = state(tmp_path)
    first = night.consolidate(opened(tmp_path))
    lines = (tmp_path / "changes.jsonl").read_bytes()
    assert night.undo(opened(tmp_path, NOW + timedelta(minutes=1))) == first.plan.run
    assert (tmp_path / "changes.jsonl").read_bytes().startswith(lines)
    after = dict(state(tmp_path))
    after.pop(first.summary)
    assert after == before
    assert opened(tmp_path, NOW + timedelta(minutes=2)).get(first.summary).is_old(clock.seconds(NOW) + 120)
    again = night.consolidate(opened(tmp_path, NOW + timedelta(minutes=3)))
    assert again.plan.run != first.plan.run
    assert [c.ref for c in again.plan.changes] == [c.ref for c in first.plan.changes]
    assert again.summary not in {"", first.summary}


def test_a_command_s_undo_takes_back_no_night(tmp_path: Path) -> None:
    """After a night with a summary, too, the last command is taken back, and nothing of the night."""
    fill(tmp_path)
    done = night.consolidate(opened(tmp_path))
    assert done.summary
    before = state(tmp_path)
    mind = opened(tmp_path, NOW + timedelta(minutes=1))
    (added,) = mind.add("渡轮改到七点开", supersedes="n1").memories
    undone = amend.undo(mind)
    assert (undone.run, undone.written, undone.changed) == (added.run, [added.ref], ["n1"])
    after = dict(state(tmp_path))
    after.pop(added.ref)
    assert after == before
    assert not mind.get("n1").is_old(clock.seconds(NOW) + 120)
    assert not mind.get(done.summary).is_old(clock.seconds(NOW) + 120)


def test_nothing_to_undo(tmp_path: Path) -> None:
    from nebula.errors import NothingToUndo

    with pytest.raises(NothingToUndo):
        night.undo(opened(tmp_path))


def test_a_missed_night_is_told(tmp_path: Path) -> None:
    """Missed is a night that has begun and was not done; done it is not, until the next begins."""
    fill(tmp_path, 4)
    assert night.is_missed(opened(tmp_path))
    night.consolidate(opened(tmp_path))
    assert not night.is_missed(opened(tmp_path, NOW + timedelta(hours=23, minutes=59)))
    assert night.is_missed(opened(tmp_path, NOW + timedelta(days=1)))


class Killed(BaseException):
    """What a process is at the point where it is killed."""


def dying(after: int, share: float) -> Callable[..., int]:
    """An append that dies at the call after so many, when the kernel has taken that share of the bytes."""
    true_append = files.Appender.append
    left = after

    def append(self: files.Appender, lines: bytes, *, durable: bool = True) -> int:
        nonlocal left
        if left == 0:
            with self.path.open("ab") as file:
                file.write(lines[: round(len(lines) * share)])
            raise Killed
        left -= 1
        return true_append(self, lines, durable=durable)

    return append


@pytest.mark.parametrize("seed", range(4))
def test_killed_anywhere_and_run_again(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut short at 50 points: before any append, or after some of its bytes; the rerun ends as an undisturbed run."""
    import shutil

    draw = random.Random(seed)
    fill(tmp_path / "mind", 16, seed)
    opened(tmp_path / "mind").build()
    shutil.copytree(tmp_path / "mind", tmp_path / "calm")
    night.consolidate(opened(tmp_path / "calm"), Mood("sad", 0.6))
    calm = timeless(tmp_path / "calm")
    for point in range(50):
        victim = tmp_path / f"victim{point}"
        shutil.copytree(tmp_path / "mind", victim)
        append = dying(after=draw.randint(0, 2), share=draw.choice([0.0, draw.random(), 1.0]))
        with monkeypatch.context() as patch:
            patch.setattr(files.Appender, "append", append)
            with contextlib.suppress(Killed):
                night.consolidate(opened(victim), Mood("sad", 0.6))
        night.consolidate(opened(victim, NOW + timedelta(minutes=draw.randint(0, 9))), Mood("sad", 0.6))
        assert timeless(victim) == calm
        assert nominated(victim) == nominated(tmp_path / "calm")
        shutil.rmtree(victim)


def _consolidate(folder: str) -> int:
    from pathlib import Path

    return len(night.consolidate(opened(Path(folder))).plan.changes)


@pytest.mark.process
def test_two_at_once_are_as_one(tmp_path: Path) -> None:
    """S16: one works, the other waits and finds nothing to do; at most one summary covers the notes."""
    fill(tmp_path)
    start = "spawn" if sys.platform == "win32" else "fork"
    with multiprocessing.get_context(start).Pool(2) as pool:
        done = pool.map(_consolidate, [str(tmp_path)] * 2, chunksize=1)
    assert min(done) == 0 < max(done)
    summaries = [m for m in Mind(tmp_path).store.read_all().memories if m.ledger == "summaries"]
    covered = [ref for summary in summaries for ref in summary.covers]
    assert len(covered) == len(set(covered))


def hashes(folder: Path) -> dict[str, tuple[int, str]]:
    return {
        path.name: (len(data), hashlib.sha256(data).hexdigest())
        for path in folder.glob("*.jsonl")
        for data in [path.read_bytes()]
    }


def grown_only(folder: Path, before: Mapping[str, tuple[int, str]]) -> bool:
    """Whether every ledger still begins with what it held."""
    return all(
        hashlib.sha256((folder / name).read_bytes()[:size]).hexdigest() == told for name, (size, told) in before.items()
    )


def live(folder: Path, memories: int, days: int) -> None:
    """That many memories over that many days, a few recalls, a night each day; ledgers only ever grow."""
    draw = random.Random(5)
    when = sorted(draw.randint(0, days * 86_400 - 1) for _ in range(memories))
    start = NOW - timedelta(days=days)
    at = 0
    for day in range(1, days + 1):
        end = day * 86_400
        batch: list[dict[str, object]] = []
        while at < len(when) and when[at] < end:
            moment = clock.write(start + timedelta(seconds=when[at]))
            ledger = draw.choice([kind.name for kind in LEDGERS[:5]])
            imp = draw.choice([0.0, 0.3, 0.5, 0.8, 1.0])
            batch.append(
                {"text": sentence(draw), "ledger": ledger, "at": moment, "imp": imp, "pinned": draw.random() < 0.02}
            )
            at += 1
        before = hashes(folder)
        mind = opened(folder, start + timedelta(seconds=end))
        if batch:
            mind.add_many(batch)
        if draw.random() < 0.2:
            for _ in range(2):
                mind.recall(sentence(draw), n=2)
        night.consolidate(mind)
        assert grown_only(folder, before)


def predicted(folder: Path, lifted: Sequence[str]) -> tuple[dict[str, int], dict[str, int]]:
    """(layer by the tables, layer in the ledger) of every memory; those that the last night lifted one layer higher."""
    mind = opened(folder)
    settings = mind.settings.forgetting
    tables, ledger = {}, {}
    for memory in mind.store.read_all().memories:
        third = max(0.1, settings.half_base * (1 + settings.half_imp * memory.imp) / 3)
        age = max(0.0, (NOW - datetime.fromisoformat(memory.at)).total_seconds() / 86_400)
        a = (1 + age / third) ** -0.5
        layer = 1 if a >= 0.55 else 2 if a >= 0.25 else 3 if a >= 0.18 else 4
        layer = max(1, layer - 1) if memory.ref in lifted else layer
        tables[memory.ref] = 0 if memory.pinned else layer
        ledger[memory.ref] = memory.depth
    return tables, ledger


def last_lifted(folder: Path) -> list[str]:
    lines = [orjson.loads(line) for line in (folder / "changes.jsonl").read_bytes().splitlines()]
    run = [line["run"] for line in lines if "night" in line][-1]
    return [line["ref"] for line in lines if line.get("run") == run and line.get("why") == "想起"]


@pytest.mark.parametrize(
    ("memories", "days"), [(120, 60), pytest.param(2000, 730, marks=[pytest.mark.torture, pytest.mark.timeout(3600)])]
)
def test_a_life_ends_where_the_tables_say(tmp_path: Path, memories: int, days: int) -> None:
    """Nights on end: every layer as sections 2 and 3 predict; no line was changed or lost on the way."""
    live(tmp_path, memories, days)
    tables, ledger = predicted(tmp_path, last_lifted(tmp_path))
    assert ledger == tables
    assert len(ledger) >= memories
    assert len(set(ledger.values())) >= 3


def test_a_replacement_that_was_cut_short_is_finished(tmp_path: Path) -> None:
    """Killed between the new memory and the closing of the old one: the night closes it, in the new one's run."""
    from nebula import amend

    opened(tmp_path, NOW - timedelta(hours=5)).add("渡轮早上六点开", imp=0.9)
    before = (tmp_path / "changes.jsonl").read_bytes() if (tmp_path / "changes.jsonl").exists() else b""
    opened(tmp_path, NOW - timedelta(hours=1)).add("渡轮改到七点开了", supersedes="n1", imp=0.9)
    (tmp_path / "changes.jsonl").write_bytes(before)
    assert [m.ref for m in opened(tmp_path).list().memories] == ["n2", "n1"]
    night.consolidate(opened(tmp_path))
    assert [m.ref for m in opened(tmp_path).list().memories if m.ledger == "notes"] == ["n2"]
    amend.undo(opened(tmp_path, NOW + timedelta(minutes=1)))
    for days in (0, 1):  # and stays taken back
        later = opened(tmp_path, NOW + timedelta(days=days, minutes=2))
        night.consolidate(later)
        assert [m.ref for m in later.list().memories if m.ledger == "notes"] == ["n1"]
