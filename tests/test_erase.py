"""The one deletion: what is named goes from every file, the rest stays, a kill changes nothing of that."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import zipfile
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nebula import amend, erase, erasure, export, longterm, maps, moods, night, remains
from nebula.errors import UnknownRef, WrongUsage
from nebula.mind import Mind
from nebula.mindlib import chain, erasing, files, quotes, zips
from nebula.mindlib.store import ERASING, SIDE_LEDGERS, Store
from nebula.recall.hit import Filters
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
NOW = datetime(2026, 5, 1, 21, 0)
SECRET = "体检报告说左肺有一个小结节，先别告诉妈妈"
HARMLESS = [
    "渡轮早上六点开，船票在抽屉里",
    "灯塔的看守换成了顾先生",
    "The tide gauge works again",
    "周三下午去邮局取包裹",
]


def opened(folder: Path, hours: float = 0.0) -> Mind:
    mind = Mind(folder, now=lambda: NOW + timedelta(hours=hours))
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def eight_grams(text: str) -> set[str]:
    return {text[at : at + 8] for at in range(len(text) - 7)}


def files_with(folder: Path, text: str) -> dict[str, list[str]]:
    """Every file with any 8 characters of a text in it, as UTF-8 or escaped as JSON or HTML does."""
    grams = eight_grams(text)
    forms = {g: (g.encode(), g.encode("unicode_escape")) for g in grams}
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            hit = [gram for gram, ways in forms.items() if any(way in data for way in ways)]
            if hit:
                found[path.name] = hit
    return found


def lived_in(folder: Path, secret: str = SECRET) -> Mind:
    """A mind in whose every file the secret stands: n1 is the memory itself."""
    mind = opened(folder)
    mind.add(secret, tag="家", due=None)
    for text in HARMLESS:
        mind.add(text)
    amend.change(mind, ["n1"], {"imp": 0.9}, "set")
    moods.feel(mind, "worry", 0.7, why=f"因为{secret}")
    longterm.write(mind, f"# 长期\n\n{secret}\n住在海边。\n", "")
    longterm.write(mind, f"# 长期\n\n住在海边。{secret}\n", f"# 长期\n\n{secret}\n住在海边。\n")
    mind.recall(secret)
    night.consolidate(opened(folder, 2))
    maps.draw(mind)
    mind.build()
    with (folder / "notes.jsonl").open("ab") as file:
        file.write(b'{"id": 90, "text": "' + secret.encode()[:60] + b"\n")
    (folder / "consolidate.log").write_text(f"摘要 {secret}\n别的\n", encoding="utf-8")
    (folder / ".longterm.md.x.tmp").write_text(secret, encoding="utf-8")
    return mind


def test_the_fixture_has_it_everywhere(tmp_path: Path) -> None:
    """Without an erase the search finds it in all those places, or the tests below prove nothing."""
    mind = lived_in(tmp_path / "mind")
    found = files_with(tmp_path / "mind", SECRET)
    assert {"notes.jsonl", "summaries.jsonl", "longterm.md", "longterm.history.jsonl", "mood.jsonl"} <= found.keys()
    assert {"星图.html", "consolidate.log", ".longterm.md.x.tmp"} <= found.keys()
    assert remains.left(mind, [], [SECRET]).keys() == found.keys()


def test_nothing_of_it_is_left_and_all_else_is(tmp_path: Path) -> None:
    mind = lived_in(tmp_path / "mind")
    vectors = mind.build().embedded
    done = erase.erase(mind, erase.plan(mind, ["n1"]))
    assert done.left == {}
    assert files_with(tmp_path / "mind", SECRET) == {}
    assert [m.text for m in reversed(mind.list(Filters(old=True), None).memories)] == HARMLESS
    assert longterm.read(mind) == f"# 长期\n\n住在海边。{quotes.CUT}\n"
    assert (tmp_path / "mind" / "consolidate.log").read_text(encoding="utf-8").endswith("\n别的\n")
    assert [e.dim for e in moods._events(mind, 0)] == ["worry"]
    assert (vectors, mind.build().embedded) == (0, 0), "no other text is embedded again"
    assert mind.recall("灯塔的看守").hits[0].memory.text == HARMLESS[1]


def test_ids_are_not_given_again(tmp_path: Path) -> None:
    """Not even the last one, and not after the index, which remembers ids, is gone."""
    mind = opened(tmp_path / "mind")
    mind.add("第一条记忆在这里")
    last = mind.add(SECRET).memories[0].ref
    erase.erase(mind, erase.plan(mind, [last]))
    for path in (tmp_path / "mind" / ".index").rglob("*"):
        path.unlink() if path.is_file() else None
    assert opened(tmp_path / "mind").add("新的一条").memories[0].ref == "n3"
    with pytest.raises(UnknownRef):
        mind.get(last)


def test_a_repeated_id_does_not_take_over_the_ref(tmp_path: Path) -> None:
    """Two lines with one id: when the first is erased the second keeps its uid for a name, indexed or not."""
    folder = tmp_path / "mind"
    folder.mkdir()
    rows = [{"id": 4, "at": "2026-04-01", "text": SECRET}, {"id": 4, "at": "2026-04-02", "text": HARMLESS[0]}]
    (folder / "notes.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    mind = opened(folder)
    second = mind.list().memories[0].ref
    erase.erase(mind, erase.plan(mind, ["n4"]))
    assert [m.ref for m in mind.list().memories] == [second]
    assert [hit.memory.ref for hit in mind.recall("渡轮").hits] == [second]
    with (folder / "notes.jsonl").open("ab") as file:
        file.write(orjson.dumps({"id": 4, "at": "2026-04-03", "text": HARMLESS[1]}) + b"\n")
    third = opened(folder).recall("灯塔的看守").hits[0].memory.ref
    assert third not in {"n4", second}
    assert third in {m.ref for m in opened(folder).list().memories}


def copied_by_hand(folder: Path, number: int, text: str) -> Mind:
    """n1 is the secret, n2 another; then a copy of n1's line, uid and all, with an id and a text of its own."""
    mind = opened(folder)
    mind.add(SECRET)
    mind.add(HARMLESS[0])
    line = orjson.loads((folder / "notes.jsonl").read_bytes().splitlines()[0])
    with (folder / "notes.jsonl").open("ab") as file:
        file.write(orjson.dumps({**line, "id": number, "text": text}) + b"\n")
    return mind


@pytest.mark.parametrize(("named", "left"), [("n1", ["n2", "n3"]), ("n3", ["n1", "n2"])])
def test_a_line_copied_by_hand_is_another_memory(tmp_path: Path, named: str, left: list[str]) -> None:
    """Two lines with one uid: what the plan names goes, the other stays, done once, twice or cut short."""
    mind = copied_by_hand(tmp_path / "mind", 3, HARMLESS[1])
    plan = erase.plan(mind, [named])
    assert plan.refs == [named]
    job = erasing.Job("2026-05-01T21:00:00", [m.uid for m, _ in plan.memories], plan.refs, plan.texts)
    done = erase.erase(mind, plan)
    assert done.left == {}
    assert [m.ref for m in mind.store.read_all().memories] == left
    erasure.begin(mind.store, job)  # once more, as after a kill
    assert [m.ref for m in mind.store.read_all().memories] == left


def test_a_copy_under_the_same_id_can_be_named_too(tmp_path: Path) -> None:
    """Its name is a uid of its own, which the plan by words shows."""
    mind = copied_by_hand(tmp_path / "mind", 1, HARMLESS[1])
    (ref,) = erase.plan(mind, words=[HARMLESS[1]]).refs
    assert erase.plan(mind, [ref]).refs == [ref] != ["n1"]
    erase.erase(mind, erase.plan(mind, [ref]))
    assert [m.text for m in mind.store.read_all().memories] == [SECRET, HARMLESS[0]]


def test_one_uid_in_two_ledgers_is_two_memories(tmp_path: Path) -> None:
    mind = copied_by_hand(tmp_path / "mind", 3, HARMLESS[1])
    lines = (tmp_path / "mind" / "notes.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "mind" / "thoughts.jsonl").write_bytes(lines[2])
    (tmp_path / "mind" / "notes.jsonl").write_bytes(b"".join(lines[:2]))
    assert erase.plan(mind, words=[SECRET[:9], HARMLESS[1]]).refs == ["n1", "h3"]
    erase.erase(mind, erase.plan(mind, ["n1"]))
    assert [m.ref for m in mind.store.read_all().memories] == ["n2", "h3"]


def test_earlier_and_later_texts_go_with_it(tmp_path: Path) -> None:
    """What it replaced always, what replaced it where its text lives on; a copy; not what shares a few words."""
    mind = opened(tmp_path / "mind")
    mind.add("体检约在五月三号上午")
    mind.add(SECRET, supersedes="n1")
    amend.rewrite(mind, "n2", SECRET + "。医生姓林")
    mind.add(f"她又说了一遍：{SECRET}。", ledger="profile")
    mind.add("先别告诉妈妈我去海边了")
    mind.add("昨天说的是：左肺有一个小结节，已经好了")
    plan = erase.plan(mind, ["n2"])
    assert {memory.ref: why for memory, why in plan.memories} == {
        "n2": "named",
        "n1": "version",
        "n3": "version",
        "p1": "same",
    }
    assert plan.near == ["n5"]
    done = erase.erase(mind, plan)
    assert done.left == {}, "what n5 says itself is no remainder"
    assert {m.ref for m in mind.list(Filters(old=True)).memories} == {"n4", "n5"}


def test_a_summary_goes_and_its_other_notes_are_digested_anew(tmp_path: Path) -> None:
    mind = lived_in(tmp_path / "mind")
    assert mind.get("s1").covers == ("n1", "n2", "n3", "n4", "n5")
    erase.erase(mind, erase.plan(mind, ["n1"]))
    assert [mind.get(ref).summarised for ref in ("n2", "n3", "n4", "n5")] == [""] * 4
    slept = night.consolidate(opened(tmp_path / "mind", 26))
    assert slept.summary == "s2"
    assert set(mind.get("s2").covers) == {"n2", "n3", "n4", "n5"}


def test_words_go_wherever_they_stand(tmp_path: Path) -> None:
    """--match takes every memory with the words in any field, and cuts them, in any case, out of all other files."""
    mind = opened(tmp_path / "mind")
    mind.add("Ask Ingrid about the boat")
    mind.add("a quiet day", speaker="INGRID")
    mind.add("the boat is blue")
    longterm.write(mind, "ingrid lives by the sea\n", "")
    plan = erase.plan(mind, words=["Ingrid"])
    assert [(m.ref, why) for m, why in plan.memories] == [("n1", "matches"), ("n2", "matches")]
    assert erase.erase(mind, plan).left == {}
    assert longterm.read(mind) == f"{quotes.CUT} lives by the sea\n"
    assert [m.ref for m in mind.list().memories] == ["n3"]
    assert remains.left(mind, [], ["ingrid"]) == {}


def test_files_that_are_not_ours_are_named_not_touched(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    mind.add(SECRET)
    copy = tmp_path / "mind" / "notes (conflicted copy).jsonl"
    copy.write_bytes((tmp_path / "mind" / "notes.jsonl").read_bytes())
    done = erase.erase(mind, erase.plan(mind, ["n1"]))
    assert done.left == {copy.name: 1}
    assert SECRET in copy.read_text(encoding="utf-8")


def test_a_drawn_uid_stays_one_that_tells_of_the_text_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "mind"
    mind = opened(folder)
    kept = mind.add(SECRET).memories[0].uid
    with (folder / "notes.jsonl").open("ab") as file:
        file.write(orjson.dumps({"id": 2, "at": "2026-04-01T09:00:00", "text": HARMLESS[0]}) + b"\n")
    hashed = mind.get("n2").uid
    erase.erase(mind, erase.plan(mind, ["n1", "n2"]))
    stones = {stone["id"]: stone.get("uid") for stone in mind.store.erased("notes")}
    assert stones == {1: kept, 2: None}
    assert hashed not in (folder / "notes.jsonl").read_text(encoding="utf-8")


def test_nothing_to_erase(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    for words in ([], ["  "]):
        with pytest.raises(WrongUsage):
            erase.plan(mind, [], words)
    with pytest.raises(UnknownRef):
        erase.plan(mind, ["n1"])
    assert not (tmp_path / "mind").exists()


# interrupted


def test_killed_at_every_change_it_finishes_at_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped before each rename, append and removal in turn: opening the mind again finishes it, with one result."""
    calm = tmp_path / "calm"
    lived_in(calm)
    for stop in range(1, 60):
        folder = tmp_path / f"mind{stop}"
        lived_in(folder)
        mind = opened(folder)
        plan = erase.plan(mind, ["n1"])
        with monkeypatch.context() as patch:
            ended = _stopping(patch, stop, partial(erase.erase, mind, plan))
        if ended:
            assert stop > 12, "so many steps there must be, or they were not counted"
            break
        begun = (folder / ERASING).exists() or SECRET not in (folder / "notes.jsonl").read_text(encoding="utf-8")
        again = opened(folder)
        if not begun:
            assert again.get("n1").text == SECRET, "before it was written down nothing has changed"
            continue
        assert not (folder / ERASING).exists()
        assert remains.left(again, [SECRET]) == {}, stop
        assert files_with(folder, SECRET) == {}, stop
        assert [m.text for m in reversed(again.list(Filters(old=True), None).memories)] == HARMLESS
    else:
        raise AssertionError("it never came to its end")


def _stopping(patch: pytest.MonkeyPatch, at: int, work: Callable[[], object]) -> bool:
    """Do work that is stopped before its `at`-th change of the disk; -> whether it came to its end."""
    left = at

    class Stopped(BaseException):
        pass

    def counted(real: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise Stopped
            return real(*args, **kwargs)

        return call

    patch.setattr(Path, "replace", counted(Path.replace))
    patch.setattr(Path, "unlink", counted(Path.unlink))
    patch.setattr(files.Appender, "append", counted(files.Appender.append))
    try:
        work()
    except Stopped:
        return False
    return True


@pytest.mark.process
def test_a_killed_process_leaves_the_rest_to_the_next_command(tmp_path: Path) -> None:
    """A real SIGKILL between two files; a recall then shows nothing of it."""
    folder = tmp_path / "mind"
    lived_in(folder)
    script = (
        "import os, signal, sys\n"
        "from nebula.cli import main\n"
        "from nebula.mindlib import files\n"
        "real, seen = files.rewrite, []\n"
        "def rewrite(path, *rest, **more):\n"
        "    if path.name == 'changes.jsonl': os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return real(path, *rest, **more)\n"
        "files.rewrite = rewrite\n"
        "main(['erase', 'n1', '--yes'])\n"
    )
    env = {**os.environ, "NEBULA_MIND": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], env=env, timeout=60, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert (folder / ERASING).exists()
    listed = subprocess.run(
        [sys.executable, "-m", "nebula", "list"], env=env, timeout=60, check=True, capture_output=True
    )
    assert SECRET not in listed.stdout.decode()
    assert not (folder / ERASING).exists()
    assert files_with(folder, SECRET) == {}


def test_a_program_without_our_lock_loses_nothing(tmp_path: Path) -> None:
    """A foreign line that is appended to the old file while the new one takes its name is carried over."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"id":1,"text":"a"}\n')
    with path.open("ab", buffering=0) as foreign:

        def make(data: bytes) -> bytes:
            foreign.write(b'{"id":2,"text":"b"}\n')
            return data.replace(b'"a"', b'""')

        assert files.rewrite(path, make)
    assert path.read_bytes() == b'{"id":1,"text":""}\n{"id":2,"text":"b"}\n'


def test_the_chain_holds_after_it_and_says_what_was_done(tmp_path: Path) -> None:
    folder = tmp_path / "mind"
    mind = lived_in(folder)
    names = [f"{kind}.jsonl" for kind in ("notes", "summaries")] + list(SIDE_LEDGERS)
    chain.extend(folder, names, "2026-05-01T23:00:00")
    before = chain.read(folder)
    erase.erase(mind, erase.plan(mind, ["n1"]))
    after = chain.read(folder)
    assert not after.broken
    assert [fault for name in names for fault in chain.faults(after, name, files.read(folder / name))] == []
    assert [act["why"] for act in after.acts] == ["erase"]
    assert after.acts[0]["changed"]["notes.jsonl"] == 2, "the memory, and the broken line that quoted it"
    assert len(after.digests["notes.jsonl"]) == len(before.digests["notes.jsonl"]) - 1
    assert erasing.WHY == "erase"


# drawn minds

_TEXT = st.text(
    '潮汐灯塔渡轮邮局钢琴温泉台风火车abcdefghij klmnopqrstuvwxyz0123456789，。"\\\n\u2028<&é', min_size=1, max_size=60
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.integers(0, 2**32), _TEXT)
def test_no_eight_characters_are_left_in_any_file(seed: int, told: str) -> None:
    """A memory of drawn letters, quoted here and there: after its erase no 8 characters of it stand in any file."""
    draw = random.Random(seed)
    alphabet = sorted(set("甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥"))
    secret = "".join(draw.choices(alphabet, k=draw.randint(8, 40))) + told.strip().translate({10: " ", 13: " "})
    others = [f"第{n}条 " + "".join(draw.choices("春夏秋冬山水云月", k=20)) for n in range(draw.randint(0, 4))]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "mind"
        mind = opened(folder)
        texts = [*others, secret]
        draw.shuffle(texts)
        refs = {text: mind.add(text, tag=draw.choice(["", "家"])).memories[0].ref for text in texts}
        if draw.random() < 0.5:
            amend.rewrite(mind, refs[secret], f"{secret} 又及")
        if draw.random() < 0.5:
            moods.feel(mind, "sad", 0.5, why=secret)
        if draw.random() < 0.5:
            longterm.write(mind, f"开头{secret}结尾", "")
        if draw.random() < 0.3:
            night.consolidate(opened(folder, 2))
        if draw.random() < 0.5:
            mind.recall(secret[:20])
        erase.erase(mind, erase.plan(mind, [refs[secret]]))
        own = opened(Path(made) / "own")  # names of our fields, such as `captured`, stand in every mind
        own.add("别的")
        names = {gram for found in files_with(own.folder, secret).values() for gram in found}
        assert [set(found) - names for found in files_with(folder, secret).values() if set(found) - names] == []
        assert {m.text for m in mind.list(Filters(old=True), None).memories if m.ledger == "notes"} == set(others)
        assert Store(folder).read_all().damages == []


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("我的口令是Ｈｕｎｔｅｒ２", "hunter2"),
        ("cafe\u0301 Zwunk is shut", "caf\u00e9 zwunk"),
        ("Die Straße nach Zwunk", "STRASSE"),
    ],
)
def test_what_recall_folds_together_erase_matches(tmp_path: Path, said: str, word: str) -> None:
    """Full-width, composed and cased forms of a word are that word."""
    mind = opened(tmp_path / "mind")
    mind.add(said)
    assert remains.left(mind, (), [word])["notes.jsonl"] == 1
    done = erase.erase(mind, erase.plan(mind, words=[word]))
    assert done.plan.refs == ["n1"]
    assert done.left == {}
    assert not files_with(mind.folder, said)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("去臺灣的船票", "台湾"),
        ("密碼ＡＢＣ９寫在門後", "abc9"),
        ("cafe\u0301 Zwunk is shut", "caf\u00e9 zwunk"),
        ("Die STRASSE nach Zwunk", "stra\u00dfe"),
    ],
)
def test_a_word_goes_in_every_form_from_every_file(tmp_path: Path, said: str, word: str) -> None:
    """Traditional, full-width, composed and cased forms are cut out of notes and logs as they are out of memories."""
    mind = opened(tmp_path / "mind")
    mind.add(HARMLESS[0])
    longterm.write(mind, f"前面。{said}。后面\n", "")
    moods.feel(mind, "sad", 0.5, why=f"因为{said}")
    (mind.folder / "consolidate.log").write_text(f"摘要 {said}\n", encoding="utf-8")
    assert {"longterm.md", "mood.jsonl", "consolidate.log"} <= remains.left(mind, (), [word]).keys()
    done = erase.erase(mind, erase.plan(mind, words=[word]))
    assert done.left == {}
    assert longterm.read(mind).startswith("前面。")
    assert longterm.read(mind).endswith("。后面\n")
    assert quotes.CUT in longterm.read(mind)
    assert [m.text for m in mind.list().memories] == [HARMLESS[0]]


@pytest.mark.parametrize(
    ("short", "longer", "other"), [("恨老板", "我恨老板", "恨"), ("I am gay", "since I am gay,", "I am gayer")]
)
def test_where_a_short_text_stands_in_others_is_told(tmp_path: Path, short: str, longer: str, other: str) -> None:
    """It goes where it stands alone; what says more stays, and is named: memories beforehand, files afterwards."""
    mind = opened(tmp_path / "mind")
    for text in (short, f"{longer} 昨天说的", f"{other} 不相干"):
        mind.add(text)
    longterm.write(mind, f"{longer}\n", "")
    moods.feel(mind, "sad", 0.5, why=longer)
    moods.feel(mind, "sad", 0.5, why=short)
    maps.draw(mind)
    plan = erase.plan(mind, ["n1"])
    assert (plan.refs, plan.near) == (["n1"], ["n2"])
    done = erase.erase(mind, plan)
    assert done.left == {}
    assert done.short.keys() == {"longterm.md", "mood.jsonl"}
    assert done.short["mood.jsonl"] == 1
    assert not (mind.folder / "星图.html").exists(), "it is drawn again without"
    assert longterm.read(mind) == f"{longer}\n"


@pytest.mark.parametrize("foreign", ["escaped", "no UTF-8"])
def test_an_export_with_a_line_of_another_program_is_looked_into(tmp_path: Path, foreign: str) -> None:
    """JSON in JSON: a line with ASCII escapes stands in an export as text, one that is no UTF-8 as base64."""
    mind = opened(tmp_path / "mind")
    mind.add(HARMLESS[0])
    line = json.dumps({"id": 2, "at": "2026-05-01T09:00:00", "text": SECRET}, ensure_ascii=foreign == "escaped")
    raw = line.encode() + (b"\n" if foreign == "escaped" else b" \xff\n")
    with (mind.folder / "notes.jsonl").open("ab") as file:
        file.write(raw)
    (mind.folder / "mine.jsonl").write_bytes(export.pack(mind))
    (mind.folder / "mine.backup").write_bytes(json.dumps({"held": line}).encode())
    names = {"notes.jsonl", "mine.jsonl", "mine.backup"}
    assert remains.left(mind, (), [SECRET]).keys() == names
    (mind.folder / "notes.jsonl").write_bytes((mind.folder / "notes.jsonl").read_bytes().replace(raw, b""))
    assert remains.left(mind, [SECRET]).keys() == names - {"notes.jsonl"}


def test_an_export_left_in_the_folder_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can't be cut, but is named."""
    from nebula import export

    mind = opened(tmp_path / "mind")
    mind.add(SECRET)
    (mind.folder / "backup.zip").write_bytes(export.pack(mind, as_zip=True))
    with zipfile.ZipFile(mind.folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", SECRET.encode() + b"0" * 2**22)
    monkeypatch.setattr(zips, "ALLOWED", 2**20)
    done = erase.erase(mind, erase.plan(mind, ["n1"]))
    assert list(done.left) == ["backup.zip"], "what would fill the memory is not unpacked"


@pytest.mark.parametrize("name", ["notes.jsonl", *SIDE_LEDGERS])
def test_lines_of_any_shape_do_not_hold_it_up(tmp_path: Path, name: str) -> None:
    """Another program's lines, of wrong types and nested as deeply as may be: they stay, but for what quotes."""
    mind = lived_in(tmp_path / "mind")
    path = mind.folder / name
    odd: list[object] = [
        {"ref": {}, "hit": ["n2", 5, {}, ["n1"]], "set": []},
        {"ref": ["n1"], "hit": {"n1": 1}, "uid": [], "run": {}},
        {"id": {}, "text": ["x"], "covers": [{}], "supersedes": {}, "from": {}, "summarised": [1]},
    ]
    lines = [orjson.dumps(one) for one in odd]
    lines += [b'{"id":99,"a":' + b"[" * depth + b"1" + b"]" * depth + b"}" for depth in (90, 900, 3000)]
    with path.open("ab") as file:
        file.write(b"\n".join(lines) + b"\n")
    done = erase.erase(opened(mind.folder), erase.plan(opened(mind.folder), ["n1"]))
    assert done.left == {}
    assert files_with(mind.folder, SECRET) == {}
    for line in lines:
        assert line in path.read_bytes().split(b"\n"), line[:80]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and links in a shared folder")
def test_only_ones_own_reports_are_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe under a report's name would hold erase up for ever, a link lead it to another's file."""
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    (tmp_path / "elsewhere").write_text(SECRET, encoding="utf-8")
    (shared / "nebula-report-link.txt").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(shared / "nebula-report-pipe.txt")
    (own := shared / "nebula-report-own.txt").write_text(SECRET, encoding="utf-8")
    mind = opened(tmp_path / "mind")
    mind.add("灯塔")
    assert remains.left(mind, [SECRET]) == {str(own): 1}
