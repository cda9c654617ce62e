"""What is marked private reaches no file by any way in; secrets are named, or masked where so set."""

from __future__ import annotations

import json
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula import amend, longterm, merge, moods, private, transfer
from nebula.cli import main
from nebula.errors import AllPrivate
from nebula.mind import Mind
from nebula.mindlib import ledger
from nebula.recall.hit import Filters
from nebula.subject import records
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 5, 1, 21, 0)
CANARY = "只有我知道的事"
MARKED = f"公开的前半<private>{CANARY}</private>公开的后半"
CARD = "4111 1111 1111 1111"


def opened(folder: Path, **overrides: object) -> Mind:
    mind = Mind(folder, now=lambda: NOW, overrides={k.replace("__", "."): v for k, v in overrides.items()})
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def stands_in(folder: Path, text: str = CANARY) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return [path.name for path in found if text.encode() in path.read_bytes()]


# the words


@pytest.mark.parametrize(
    ("text", "left", "count"),
    [
        ("a<private>b</private>c", "ac", 1),
        ("a <private>b</private> c", "a c", 1),
        ("a<PRIVATE>b</Private >c< private >d</private>e", "ace", 2),
        ("a<private>b<private>c</private>d</private>e", "ae", 1),
        ("a<private>never closed", "a", 1),
        ("a</private>b", "a</private>b", 0),
        ("<private>all</private>", "", 1),
        ("a<private\n>b</private\t>c<private why='x'>d</private>e", "ace", 2),
        ("a＜private＞b＜/private＞c＜PRIVATE>d", "ac", 2),
        ("a<pri<private>b</private>vate>c</private>d", "ad", 2),
        ("1 < 2 and <privately>", "1 < 2 and <privately>", 0),
        ("", "", 0),
    ],
)
def test_passages_go(text: str, left: str, count: int) -> None:
    assert private.strip(text) == (left, count)


@given(
    st.lists(
        st.sampled_from(
            ["<private>", "</private>", "＜private \n＞", "<pri", "vate>", "甲", "b ", "\n", "< private >", "<", "é"]
        ),
        max_size=30,
    )
)
def test_no_mark_is_left_that_opens_one(parts: list[str]) -> None:
    """Stripping once is enough, and of what stood outside every passage nothing but blanks goes."""
    text = "".join(parts)
    left, _ = private.strip(text)
    assert not private.marked(left.encode()) or left == text
    assert private.strip(left)[0] == left


@pytest.mark.parametrize("tag", ["<private>", "< PRIVATE\n>", "＜private＞", '<private why="x">'])
@pytest.mark.parametrize("dump", [json.dumps, partial(json.dumps, ensure_ascii=False)])
def test_a_mark_is_seen_in_json_however_it_is_written(tag: str, dump: Callable[[object], str]) -> None:
    """Also by programs that escape all that is not ASCII, or every bracket."""
    line = dump({"text": f"a{tag}b"})
    assert private.marked(line.encode())
    assert private.marked(line.replace("<", "\\u003C").replace(">", "\\u003E").encode())


@given(st.recursive(st.text(max_size=5) | st.just(MARKED), lambda inner: st.dictionaries(st.text(max_size=3), inner)))
def test_no_line_that_is_written_has_one(value: object) -> None:
    """The wall: whatever object a ledger is given, its line opens no private passage."""
    assert CANARY.encode() not in ledger.dump([{"text": value}])


# the ways in


def test_every_operation_of_a_mind(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    added = mind.add(MARKED, tag=f"出行<private>{CANARY}</private>", note={"deep": [MARKED]})
    assert added.memories[0].text == "公开的前半公开的后半"
    assert [(n.code, n.facts["n"]) for n in added.notices if n.code == "private"] == [("private", 3)]
    mind.add_many([{"text": MARKED, "topic": MARKED, "ledger": "tacts"}])
    amend.change(mind, ["n1"], {"tag": MARKED}, "set")
    amend.rewrite(mind, "n1", f"{MARKED}，改了")
    longterm.write(mind, MARKED, "")
    longterm.write(mind, f"{MARKED}\n又一行", "公开的前半公开的后半")
    moods.feel(mind, "sad", 0.5, why=MARKED)
    mind.store.append_lines("changes.jsonl", [{"at": "2026", "kind": "foreign", "said": MARKED}], durable=True)
    assert stands_in(tmp_path / "mind") == []
    assert stands_in(tmp_path / "mind", "公开的前半公开的后半")


def test_a_change_says_what_was_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str], mind_dir: Path) -> None:
    """set, tag and edit as add does, and the tool of an agent; nothing but what is private empties no field."""
    mind = opened(tmp_path / "mind")
    mind.add("渡轮六点开", tag="出行")
    changed = amend.change(mind, ["n1"], {"tag": MARKED}, "set")
    assert [(n.code, n.facts["n"]) for n in changed.notices] == [("private", 1)]
    with pytest.raises(AllPrivate):
        amend.change(mind, ["n1"], {"tag": f"<private>{CANARY}</private>"}, "set")
    assert mind.get("n1").tag == "公开的前半公开的后半"
    same = amend.rewrite(mind, "n1", f"渡轮六点开<private>{CANARY}</private>")
    assert ([m.ref for m in same.memories], [n.code for n in same.notices]) == (["n1"], ["private"])
    assert [n.code for n in amend.rewrite(mind, "n1", MARKED).notices if n.code == "private"] == ["private"]
    assert [n.code for n in amend.rewrite(mind, "n2", f"卡 {CARD}").notices if n.code == "secret"] == ["secret"]
    main(["add", "渡轮六点开"])
    for argv in (["set", "n1", f"tag={MARKED}"], ["tag", "n1", f"{MARKED}二"], ["edit", "n1", MARKED]):
        capsys.readouterr()
        assert main(argv) == 0
        assert "标为私密" in capsys.readouterr().err, argv
    assert main(["tag", "n2", f"<private>{CANARY}</private>"]) == 2
    assert stands_in(tmp_path / "mind") + stands_in(mind_dir) == []


def test_all_of_it_private_is_refused_and_passed_over_in_a_batch(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    with pytest.raises(AllPrivate):
        mind.add(f" <private>{CANARY}</private> ")
    assert not (tmp_path / "mind").exists()
    done = mind.add_many([{"text": "一"}, {"text": f"<private>{CANARY}"}, {"text": "二"}])
    assert [memory.text for memory in done.memories] == ["一", "二"]
    assert "private" in {notice.code for notice in done.notices}


def test_import_brings_none(tmp_path: Path) -> None:
    """Not in a record, a side ledger, the long-term notes; what is private as a whole stays there; twice is once."""
    source = tmp_path / "there"
    source.mkdir()
    day = "2026-01-01"
    rows = [{"id": 1, "at": day, "text": MARKED, "tag": MARKED}, {"id": 2, "at": day, "text": f"<private>{CANARY}"}]
    (source / "notes.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    felt = {"at": day, "dim": "sad", "strength": 0.5, "why": MARKED}
    (source / "mood.jsonl").write_bytes(orjson.dumps(felt) + b"\n")
    (source / "longterm.md").write_text(MARKED, encoding="utf-8")
    mind = opened(tmp_path / "mind")
    assert transfer.import_folder(mind, source).records == {"notes": 1}
    assert stands_in(tmp_path / "mind") == []
    assert transfer.import_folder(mind, source).records == {}
    assert len(mind.list(Filters(old=True)).memories) == 1


def test_every_way_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mind_dir: Path) -> None:
    """add, standard input, batch, edit, set, tag, longterm, mood; a subject's init, event, tell, memory and save."""
    import io
    import sys

    monkeypatch.chdir(tmp_path)
    (tmp_path / "batch.jsonl").write_bytes(orjson.dumps({"text": MARKED, "speaker": MARKED}) + b"\n")
    save = {"events": [{"text": MARKED}], "memory": [{"op": "set", "topic": "灯塔", "view": MARKED, "why": MARKED}]}
    ways: list[tuple[list[str], bytes]] = [
        (["add", MARKED], b""),
        (["add", "-"], MARKED.encode()),
        (["add", "--batch", "batch.jsonl"], b""),
        (["edit", "n1", f"{MARKED}！"], b""),
        (["set", "n2", f"tag={MARKED}"], b""),
        (["tag", "n3", MARKED], b""),
        (["longterm", "edit", "-"], MARKED.encode()),
        (["mood", "feel", "sad", "0.5", "--why", MARKED], b""),
        (["subject", "init", "甲", "--event", MARKED, "--memory", f"蓝伞={MARKED}"], b""),
        (["subject", "init", "-"], orjson.dumps({"id": "乙", "events": [MARKED]})),
        (["subject", "event", "甲", MARKED], b""),
        (["subject", "event", "甲", "-"], MARKED.encode()),
        (["subject", "tell", "甲", "乙", "1", "--text", MARKED], b""),
        (["subject", "memory", "甲", "set", "灯塔", MARKED, "--why", MARKED], b""),
        (["subject", "memory", "甲", "alias", "灯塔", f"高塔<private>{CANARY}</private>"], b""),
        (["subject", "save", "甲"], orjson.dumps(save)),
        (["consolidate"], b""),
    ]
    for argv, given_bytes in ways:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given_bytes), encoding="utf-8"))
        assert main(argv) == 0, argv
        assert stands_in(mind_dir) == [], argv
        assert stands_in(tmp_path / "simulation") + stands_in(tmp_path / ".nbook") == [], argv
    assert stands_in(tmp_path / "simulation", "公开的前半公开的后半")
    for argv in (["add", f"<private>{CANARY}</private>"], ["subject", "event", "甲", f"<private>{CANARY}</private>"]):
        assert main(argv) == 2, argv


def test_a_view_written_by_hand_is_read_without(tmp_path: Path) -> None:
    (view,), problems = records.views(orjson.dumps({"topic": "灯塔", "view": MARKED}) + b"\n")
    assert (view.view, problems) == ("公开的前半公开的后半", [])


# secrets


def test_a_secret_is_stored_and_named(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    added = mind.add(f"新卡 {CARD}", topic="", speaker="")
    assert added.memories[0].text == f"新卡 {CARD}"
    (notice,) = (n for n in added.notices if n.code == "secret")
    assert notice.facts == {"kinds": "card", "ref": "n1"}
    assert [n for n in mind.add("渡轮早上六点开").notices if n.code == "secret"] == []


def test_where_so_set_it_is_masked_everywhere(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind", privacy__secrets="redact")
    added = mind.add(f"新卡 {CARD}", speaker=CARD)
    mind.add_many([{"text": f"旧卡 {CARD}"}])
    amend.change(mind, ["n1"], {"tag": CARD}, "set")
    moods.feel(mind, "worry", 0.4, why=CARD)
    assert added.memories[0].text == "新卡 [▇▇ card]"
    assert {n.code for n in added.notices} >= {"masked"}
    assert stands_in(tmp_path / "mind", CARD) == []


def test_a_story_s_characters_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mind_dir: Path
) -> None:
    """By each way of writing to one: named by default, masked where so set; the mood and the notes as well."""
    import io
    import sys

    monkeypatch.chdir(tmp_path)
    main(["subject", "init", "乙"])
    save = {"events": [{"text": f"存 {CARD}"}], "memory": [{"op": "set", "topic": "卡", "view": CARD, "why": CARD}]}
    ways: list[tuple[list[str], bytes]] = [
        (["subject", "init", "{}", "--event", f"新卡 {CARD}", "--memory", f"卡={CARD}"], b""),
        (["subject", "event", "{}", f"旧卡 {CARD}"], b""),
        (["subject", "tell", "乙", "{}", "1", "--text", f"听说 {CARD}"], b""),
        (["subject", "memory", "{}", "set", "伞", f"伞 {CARD}"], b""),
        (["subject", "save", "{}"], orjson.dumps(save)),
        (["mood", "feel", "sad", "0.5", "--why", CARD], b""),
        (["longterm", "edit", "-"], CARD.encode()),
    ]
    main(["subject", "event", "乙", "灯塔的灯灭了"])
    for who, word in (("甲", "好像有机密（card）"), ("丙", "已遮住：card")):
        for argv, given_bytes in ways:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given_bytes), encoding="utf-8"))
            capsys.readouterr()
            assert main([part.format(who) for part in argv]) == 0, argv
            assert word in capsys.readouterr().err, argv
        found = set(stands_in(tmp_path / "simulation" / "subjects" / who, CARD))
        assert found == ({"events.jsonl", "memory.jsonl", "memory.history.jsonl"} if who == "甲" else set())
        main(["config", "set", "privacy.secrets", "redact"])
    assert main(["subject", "tell", "乙", "甲", "1", "--text", f"<private>{CANARY}</private>"]) == 2
    assert stands_in(mind_dir / longterm.NAME, CARD) == []


def test_what_another_mind_holds_is_masked_too(tmp_path: Path) -> None:
    """Texts, other words, side ledgers and notes of an import and a merge; again is once."""
    there = opened(tmp_path / "there")
    there.add(f"卡 {CARD}", tag=CARD)
    amend.change(there, ["n1"], {"topic": ""}, "set")
    moods.feel(there, "worry", 0.4, why=CARD)
    longterm.write(there, f"{CARD}\n", "")
    longterm.write(there, f"{CARD}，改了\n", f"{CARD}\n")
    for way, take in (("import", transfer.import_folder), ("merge", merge.merge)):
        mind = opened(tmp_path / way, privacy__secrets="redact")
        mind.add("渡轮早上六点开")
        if way == "merge":
            longterm.write(Mind(mind.folder, now=lambda: datetime(2027, 1, 1)), "住在青岛\n", "")
        take(mind, there.folder)
        assert stands_in(tmp_path / way, CARD) == []
        assert len(stands_in(tmp_path / way, "[▇▇ card]")) >= 3
        before = {path.name: path.read_bytes() for path in (tmp_path / way).glob("*.jsonl")}
        take(mind, there.folder)
        assert before == {path.name: path.read_bytes() for path in (tmp_path / way).glob("*.jsonl")}


def test_notes_that_are_all_private_do_not_empty_what_is_there(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    assert not longterm.write(mind, f"<private>{CANARY}</private>", "")
    longterm.write(mind, "住在青岛\n", "")
    with pytest.raises(AllPrivate):
        longterm.write(mind, f"<private>{CANARY}</private>", "住在青岛\n")
    assert longterm.read(mind) == "住在青岛\n"


def test_redact_and_the_setting_on_the_command_line(capsys: pytest.CaptureFixture[str], mind_dir: Path) -> None:
    assert main(["add", f"新卡 {CARD}", "--redact"]) == 0
    assert stands_in(mind_dir, CARD) == []
    assert main(["add", f"新卡 {CARD}"]) == 0
    assert "n2 里好像有机密（card）" in capsys.readouterr().err
    assert main(["config", "set", "privacy.secrets", "redact"]) == 0
    assert main(["add", f"第三张 {CARD}"]) == 0
    assert stands_in(mind_dir, f"第三张 {CARD}") == []


def test_settings_keep_none_either(tmp_path: Path) -> None:
    """Set, imported from a folder, or restored from an export: mind-config.json has no private passage."""
    there, here, set_here = (Mind(tmp_path / name, now=lambda: NOW) for name in ("there", "here", "set"))
    there.add("渡轮早上六点开")
    config = {"note": "a<private>PRIVWORD</private>b", "recall": {"k": 12}}
    (there.folder / "mind-config.json").write_text(json.dumps(config), encoding="utf-8")
    transfer.import_folder(here, there.folder)
    set_here.configure("summarizer.command", "summary <private>PRIVWORD</private>now")
    assert json.loads((here.folder / "mind-config.json").read_bytes()) == {"note": "ab", "recall": {"k": 12}}
    assert json.loads((set_here.folder / "mind-config.json").read_bytes()) == {"summarizer": {"command": "summary now"}}
