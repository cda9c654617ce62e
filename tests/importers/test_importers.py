"""Other programs' memories: each sample arrives whole, twice is once, newer text supersedes, damage costs itself."""

from __future__ import annotations

import json
import os
import shutil
import threading
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nebula import amend, clock, erase, importers
from nebula.errors import BadValue, FileUnusable
from nebula.importers import Item, Passed, exports, markdown, taking
from nebula.mind import Mind
from nebula.mindlib import files
from nebula.recall.hit import Filters
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from nebula.importers.taking import Taken
    from nebula.mindlib.record import Memory
    from tests.cli.conftest import Nebula

SAMPLES = Path(__file__).parents[1] / "data" / "imports"
NOW = datetime(2026, 5, 1, 9)
FILES = {
    "mem0": "mem0.json",
    "mcp-memory": "memory.jsonl",
    "chatgpt": "chatgpt.json",
    "claude": "claude.json",
    "markdown": "notes",
}


def opened(folder: Path, now: datetime = NOW) -> Mind:
    mind = Mind(folder, now=lambda: now)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def held(mind: Mind) -> list[Memory]:
    return mind.store.read_all().memories


def living(mind: Mind) -> list[str]:
    return [memory.text for memory in held(mind) if memory.valid_to is None]


def taken(mind: Mind, path: Path, kind: str, **options: Any) -> Taken:
    return taking.take(mind, path, kind, **options)


@pytest.fixture
def mind(tmp_path: Path) -> Mind:
    return opened(tmp_path / "mind")


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLES, tmp_path / "samples"))


def written(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return path


def local(text: str) -> str:
    """A time with its zone as a ledger here writes it."""
    return clock.write(clock.read("at", text))


def at_epoch(seconds: int) -> str:
    """Seconds since 1970 as a ledger here writes them."""
    return clock.write(datetime.fromtimestamp(seconds, tz=UTC).astimezone())


def test_every_format_has_a_sample() -> None:
    assert FILES.keys() == importers.FORMATS.keys()


@pytest.mark.parametrize("kind", FILES)
def test_twice_is_once(mind: Mind, kind: str) -> None:
    """The second time all is here, and not a byte of a ledger changes."""
    first = taken(mind, SAMPLES / FILES[kind], kind)
    before = (mind.folder / "notes.jsonl").read_bytes()
    again = taken(mind, SAMPLES / FILES[kind], kind)
    assert (again.added, again.newer, again.here) == (0, 0, first.added)
    assert first.added == len(held(mind)) > 0
    assert not again.gone
    assert again.damages == first.damages
    assert (mind.folder / "notes.jsonl").read_bytes() == before


@pytest.mark.parametrize("kind", FILES)
def test_dry_run_counts_and_writes_nothing(mind: Mind, kind: str) -> None:
    would = taken(mind, SAMPLES / FILES[kind], kind, dry_run=True)
    assert not mind.folder.exists()
    did = taken(mind, SAMPLES / FILES[kind], kind)
    assert (would.added, would.here, would.passed) == (did.added, did.here, did.passed)


@pytest.mark.parametrize("kind", FILES)
def test_source_and_program_are_kept(mind: Mind, kind: str) -> None:
    """Where it came from stands in each record, and each has its own."""
    taken(mind, SAMPLES / FILES[kind], kind)
    sources = [memory.extra["source"] for memory in held(mind)]
    assert all(source.startswith(f"{kind}:") for source in sources)
    assert len(set(sources)) == len(sources)
    assert {memory.by for memory in held(mind)} == {"import"}


def test_mem0(mind: Mind) -> None:
    """Texts, days, categories, owners; a memory without text or name is damage, told by its place."""
    done = taken(mind, SAMPLES / "mem0.json", "mem0")
    milk, home, guitar, relation = held(mind)
    assert (milk.text, milk.tag, milk.via) == ("早上喝无糖的豆浆，不喝牛奶", "饮食", "工具")
    assert milk.at == local("2026-03-02T08:15:30+08:00")
    assert (home.tag, home.at) == ("home", local("2026-03-05T21:00:00Z"))
    assert guitar.extra["agent_id"] == "coach"
    assert (relation.text, relation.at) == ("linan plays guitar", clock.write(NOW))
    assert [(one.where[:13], one.why) for one in done.damages] == [
        ("mem0.json [4]", "缺 memory"),
        ("mem0.json [5]", "缺 id"),
    ]


def test_mem0_in_other_wrappings(mind: Mind, tmp_path: Path) -> None:
    """A bare list, pages, OpenMemory's words; what was deleted there does not come."""
    entries = [
        {"id": 1, "text": "一", "created_at": 1772410500},
        {
            "results": [
                {"id": "2", "content": "二", "state": "active"},
                {"id": "3", "content": "三", "state": "deleted"},
            ]
        },
    ]
    done = taken(mind, written(tmp_path / "list.json", entries), "mem0")
    assert living(mind) == ["一", "二"]
    assert held(mind)[0].at == at_epoch(1772410500)
    assert done.passed == {"deleted there": 1}
    assert taken(mind, written(tmp_path / "m.json", {"memories": entries[:1]}), "mem0").here == 1


def test_mcp_memory(mind: Mind) -> None:
    """Each observation and relation is one memory, the tag is the type, a torn line costs itself."""
    done = taken(mind, SAMPLES / "memory.jsonl", "mcp-memory")
    assert living(mind) == [
        "林楠: 在潮位站上班",
        "林楠: 怕坐飞机",
        "林楠: 养了一只叫团子的猫",
        "tide-station: Its gauge is read every ten minutes",
        "小周: person",
        "林楠 works_at tide-station",
        "小周 是同事 林楠",
    ]
    assert [memory.tag for memory in held(mind)][:4] == ["person"] * 3 + ["project"]
    assert [one.where for one in done.damages] == ["memory.jsonl:5"]


def test_mcp_memory_as_one_graph(mind: Mind, tmp_path: Path) -> None:
    """The answer of read_graph is the same memories as the lines."""
    lines = (SAMPLES / "memory.jsonl").read_text(encoding="utf-8").splitlines()
    objects = [json.loads(line) for line in lines if line.endswith("}")]
    graph = {
        "entities": [one for one in objects if one["type"] == "entity"],
        "relations": [one for one in objects if one["type"] == "relation"],
    }
    first = taken(mind, SAMPLES / "memory.jsonl", "mcp-memory")
    assert taken(mind, written(tmp_path / "graph.json", graph), "mcp-memory").here == first.added


def test_chatgpt(mind: Mind) -> None:
    """The person's turns on the branch that was last seen, in order, with their times; replies are counted."""
    done = taken(mind, SAMPLES / "chatgpt.json", "chatgpt")
    ferry, seat, guitar = held(mind)
    assert ferry.text == "下周三我要坐最早的渡轮去长岛看妈妈"
    assert (ferry.via, ferry.tag, ferry.speaker, ferry.session) == ("他说的", "chatgpt", "user", "67c3-ferry")
    assert ferry.at == at_epoch(1772410500)
    assert ferry.extra["title"] == "渡轮时刻"
    assert seat.text == "船票照片在这里，帮我记住座位是 12A"
    assert (ferry.turn, seat.turn) == (1, 3)
    assert guitar.at == at_epoch(1772500000), "the conversation's, where the turn has none"
    assert done.passed == {"a reply": 2}
    assert [one.why for one in done.damages] == ["缺 mapping"]


@pytest.mark.parametrize("kind", ["chatgpt", "claude"])
def test_replies_when_asked_for(mind: Mind, kind: str) -> None:
    """They come via 工具, and what came before is not repeated."""
    first = taken(mind, SAMPLES / FILES[kind], kind)
    more = taken(mind, SAMPLES / FILES[kind], kind, replies=True)
    assert (more.added, more.here) == (first.passed["a reply"], first.added)
    replies = [memory for memory in held(mind) if memory.speaker == "assistant"]
    assert len(replies) == more.added
    assert {memory.via for memory in replies} == {"工具"}


def test_claude(mind: Mind) -> None:
    """What was typed comes, what was attached or thought does not."""
    done = taken(mind, SAMPLES / "claude.json", "claude")
    assert living(mind) == ["我打算五月搬回青岛，离妈妈近一点", "The lease in Yantai ends on the 20th of May"]
    assert held(mind)[0].at == local("2026-02-10T09:00:05Z")
    assert done.passed == {"a reply": 1, "no text": 1}
    assert len(done.damages) == 1


def test_markdown(mind: Mind) -> None:
    """Observations, relations and sections, each with its note's title; fences and links are text."""
    done = taken(mind, SAMPLES / "notes", "markdown")
    by_text = {memory.text.split("\n")[0]: memory for memory in held(mind)}
    assert list(by_text) == [
        "Tide gauge",
        "Tide gauge: A loose wire made it jump, not the sensor #repair (found in January)",
        "Tide gauge: 每十分钟读一次",
        "Tide gauge › Observations",
        "Tide gauge part_of Harbour station",
        "Tide gauge relates_to Spring tides",
        "Tide gauge › Notes",
        "2026-02-03",
        "2026-02-03 › 晚上",
    ]
    assert [memory.tag for memory in held(mind)] == [
        "work", "fault", "habit", "work", "work", "work", "work", "markdown", "家",
    ]  # fmt: skip
    assert {memory.at for memory in held(mind)} == {"2026-01-15T10:00:00", "2026-02-03T00:00:00"}
    assert "nor a heading" in by_text["Tide gauge › Notes"].text
    assert [(one.where, one.why) for one in done.damages] == [("latin1.md", "不是 UTF-8")]


def test_one_note_alone(mind: Mind, samples: Path) -> None:
    """A file is a folder of one; without front matter or a day in its name its own time is its day."""
    note = samples / "walk.md"
    note.write_text("走到灯塔再回来。\n", encoding="utf-8")
    os.utime(note, (1772410500, 1772410500))
    assert taken(mind, note, "markdown").added == 1
    assert held(mind)[0].at == at_epoch(1772410500)


# upstream goes on


def test_an_edit_there_supersedes(mind: Mind, samples: Path) -> None:
    """The newer text holds, from when it was changed there; the older stays, closed."""
    taken(mind, samples / "mem0.json", "mem0")
    document = json.loads((samples / "mem0.json").read_text(encoding="utf-8"))
    document["results"][1] |= {"memory": "Lives in Yantai now", "updated_at": "2026-04-20T08:00:00Z"}
    done = taken(mind, written(samples / "mem0.json", document), "mem0")
    assert (done.added, done.newer, done.here) == (0, 1, 3)
    newer = held(mind)[-1]
    assert (newer.text, newer.supersedes, newer.at) == ("Lives in Yantai now", "n2", local("2026-04-20T08:00:00Z"))
    assert mind.get("n2").valid_to is not None
    assert taken(mind, samples / "mem0.json", "mem0").newer == 0


@pytest.mark.parametrize(
    ("kind", "name", "old", "new"),
    [
        ("mcp-memory", "memory.jsonl", "怕坐飞机", "不再怕坐飞机了"),
        ("markdown", "notes/tide.md", "每十分钟读一次", "每五分钟读一次"),
        ("markdown", "notes/tide.md", "under the north pier", "under the south pier"),
    ],
)
def test_a_changed_sentence_supersedes(mind: Mind, samples: Path, kind: str, name: str, old: str, new: str) -> None:
    """Also where only its place tells what it was before."""
    taken(mind, samples / FILES[kind], kind)
    count = len(held(mind))
    path = samples / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    done = taken(mind, samples / FILES[kind], kind)
    assert (done.added, done.newer, done.gone) == (0, 1, [])
    assert new in held(mind)[-1].text
    assert old in mind.get(held(mind)[-1].supersedes).text
    assert len(living(mind)) == count


def test_what_is_gone_there_stays_and_is_named(mind: Mind, samples: Path) -> None:
    taken(mind, samples / "memory.jsonl", "mcp-memory")
    path = samples / "memory.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"怕坐飞机",', ""), encoding="utf-8")
    done = taken(mind, path, "mcp-memory")
    assert (done.added, done.newer, done.gone) == (0, 0, ["n2"])
    assert mind.get("n2").valid_to is None


def test_an_edit_here_stays(mind: Mind) -> None:
    """What was edited here holds; the same export again brings nothing back."""
    taken(mind, SAMPLES / "mem0.json", "mem0")
    amend.rewrite(mind, "n1", "早上喝茶")
    assert taken(mind, SAMPLES / "mem0.json", "mem0").here == 4
    assert "早上喝茶" in living(mind)


def test_undone_is_as_if_never(mind: Mind) -> None:
    """One undo takes an import back whole; the next brings it again, under uids of its own."""
    first = taken(mind, SAMPLES / "mem0.json", "mem0")
    amend.undo(mind)
    assert living(mind) == []
    assert taken(mind, SAMPLES / "mem0.json", "mem0").added == first.added
    assert len({memory.uid for memory in held(mind)}) == 2 * first.added


def test_erased_does_not_come_back(mind: Mind) -> None:
    """What has a name there is known by it, also when nothing is left of it here."""
    taken(mind, SAMPLES / "chatgpt.json", "chatgpt")
    erase.erase(mind, erase.plan(mind, ["n2"]))
    done = taken(mind, SAMPLES / "chatgpt.json", "chatgpt")
    assert (done.added, done.erased) == (0, 1)
    assert not any("12A" in text for text in living(mind))


def test_two_machines_take_the_same(tmp_path: Path) -> None:
    """What has a name there has one uid everywhere, so that a merge finds it here."""
    one, other = opened(tmp_path / "one"), opened(tmp_path / "other")
    for each in (one, other):
        taken(each, SAMPLES / "claude.json", "claude")
    assert [memory.uid for memory in held(one)] == [memory.uid for memory in held(other)]


def test_private_passages_and_keys(mind: Mind, tmp_path: Path) -> None:
    """As everywhere: what is private is not stored, a key is told of; again it is known."""
    path = tmp_path / "m.json"
    results = [
        {"id": "1", "memory": "<private>心事</private>"},
        {"id": "2", "memory": "票 <private>藏</private>在抽屉里"},
    ]
    written(path, {"results": results})
    done = taken(mind, path, "mem0")
    assert (done.added, done.private) == (1, 1)
    assert "藏" not in (mind.folder / "notes.jsonl").read_text(encoding="utf-8")
    assert taken(mind, path, "mem0").here == 1


# files as they come


def test_archives_and_folders(mind: Mind, tmp_path: Path) -> None:
    """The archive that was mailed, or the folder it was unpacked to, is the same export."""
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(SAMPLES / "claude.json", "data/conversations.json")
        archive.writestr("users.json", "[]")
    first = taken(mind, tmp_path / "export.zip", "claude")
    assert first.added == 2
    folder = tmp_path / "unpacked"
    folder.mkdir()
    shutil.copy(SAMPLES / "claude.json", folder / "conversations-000.json")
    assert taken(mind, folder, "claude").here == 2


def test_an_export_that_was_cut_off(mind: Mind, tmp_path: Path) -> None:
    """What came before the end arrives; the last conversation is damage."""
    data = (SAMPLES / "chatgpt.json").read_bytes()
    path = tmp_path / "conversations.json"
    path.write_bytes(data[: data.index(b"Blackbird")])
    done = taken(mind, path, "chatgpt")
    assert done.added == 2
    assert [one.why for one in done.damages] == ["缺 mapping", "第 20 行第 202 个字符处不合 JSON 的写法"]


@pytest.mark.parametrize(
    ("kind", "before", "spoilt", "place"),
    [
        ("mem0", b"results", b"\0", "第 {line} 行第 {column} 个字符"),
        ("mem0", b"results", b"\xff", "第 {byte} 个字节起不是 UTF-8"),
        ("claude", "搬回".encode(), b"\x01", "第 {line} 行第 {column} 个字符"),
        ("claude", "搬回".encode(), b"\xff", "第 {byte} 个字节起不是 UTF-8"),
        ("mcp-memory", "怕坐".encode(), b"\x01", "memory.jsonl:{line}: 第 {column} 个字符"),
    ],
)
def test_the_broken_place_is_named(
    mind: Mind, samples: Path, kind: str, before: bytes, spoilt: bytes, place: str
) -> None:
    """By line and character, or byte, of the file; of what is broken nothing is taken."""
    path = samples / FILES[kind]
    data = path.read_bytes()
    at = data.index(before)
    path.write_bytes(data[:at] + spoilt + data[at:])
    line_start = data.rfind(b"\n", 0, at) + 1
    told = place.format(line=data.count(b"\n", 0, at) + 1, column=len(data[line_start:at].decode()) + 1, byte=at)
    try:
        said = [f"{one.where}: {one.why}" for one in taken(mind, path, kind).damages]
    except FileUnusable as error:
        said = [error.message]
        assert not mind.folder.exists()
    assert any(told in one for one in said), (told, said)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("mem0", "chatgpt.json"), ("chatgpt", "claude.json"), ("claude", "chatgpt.json"), ("mcp-memory", "mem0.json")],
)
def test_the_wrong_format_is_refused(mind: Mind, kind: str, name: str) -> None:
    """Nothing is guessed and nothing written."""
    with pytest.raises(FileUnusable):
        taken(mind, SAMPLES / name, kind)
    assert not mind.folder.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("kind", FILES)
def test_from_a_pipe(mind: Mind, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `<(unzip -p …)` gives it: the same as the file; one to which nobody writes is refused."""
    file = SAMPLES / "notes" / "tide.md" if kind == "markdown" else SAMPLES / FILES[kind]
    pipe = tmp_path / file.name
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(file.read_bytes(),))
    writer.start()
    assert taken(mind, pipe, kind).added == taken(opened(tmp_path / "other"), file, kind).added > 0
    writer.join()
    monkeypatch.setattr(files, "LOCK_TIMEOUT", 0.01)
    with pytest.raises(FileUnusable, match="没有谁往里写"):
        taken(mind, pipe, kind)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_among_notes_is_named(mind: Mind, samples: Path) -> None:
    """It is waited for by nobody; the notes beside it arrive."""
    os.mkfifo(samples / "notes" / "pipe.md")
    done = taken(mind, samples / "notes", "markdown")
    assert ("pipe.md", "不是普通文件") in [(one.where, one.why) for one in done.damages]
    assert done.added == 9


@pytest.mark.parametrize("kind", FILES)
def test_no_file(mind: Mind, kind: str, tmp_path: Path) -> None:
    with pytest.raises(FileUnusable):
        taken(mind, tmp_path / "none", kind)


def test_into_another_ledger(mind: Mind) -> None:
    """And what is newer goes where the older one is."""
    taken(mind, SAMPLES / "mem0.json", "mem0", ledger="profile")
    assert {memory.ledger for memory in held(mind)} == {"profile"}
    assert taken(mind, SAMPLES / "mem0.json", "mem0").here == 4
    with pytest.raises(BadValue):
        taken(mind, SAMPLES / "claude.json", "claude", ledger="nowhere")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.text(max_size=6), JSON, max_size=4), max_size=6), st.booleans(), st.integers(0, 400))
@example(objects=[{"": [-(2**63) - 1]}], ascii_only=False, cut=43)
def test_elements_are_those_of_the_array(objects: list[Any], ascii_only: bool, cut: int) -> None:
    """However written; cut off anywhere, all whole ones before the cut come."""

    def read(raw: bytes) -> Any:  # orjson's numbers beyond 64 bits are floats
        return json.loads(raw.decode("utf-8", "surrogatepass"))

    data = json.dumps(objects, ensure_ascii=ascii_only, indent=1).encode("utf-8", "surrogatepass")
    assert [read(raw) for _, raw in exports.elements(data)] == objects
    assert all(data[start:].startswith(raw) for start, raw in exports.elements(data))
    torn = data[:cut]
    whole = [read(raw) for _, raw in exports.elements(torn) if isinstance(exports.loaded(raw), dict)]
    assert whole == objects[: len(whole)]
    assert len(list(exports.elements(torn))) <= len(whole) + 1


@given(st.text(alphabet="#-[]x ab\n`:(会", max_size=120))
def test_any_note_is_read(text: str) -> None:
    """Whatever stands in it: each memory has a text and a source of its own, again the same."""
    found = list(markdown.items(text, "a/b.md", "2026-05-01T00:00:00"))
    assert found
    assert found == list(markdown.items(text, "a/b.md", "2026-05-01T00:00:00"))
    assert all(isinstance(one, Passed) or one.text.strip() for one in found)
    named = [one.source for one in found if isinstance(one, Item) and not one.group]
    assert len(set(named)) == len(named)


# the command


def test_command(nebula: Nebula) -> None:
    """Counts for people, one document for programs; what was left out is named on stderr."""
    said = nebula("import", str(SAMPLES / "claude.json"), "--from", "claude", "--dry-run")
    assert (said.code, said.out.splitlines()[0]) == (0, "会接收：新的 2 条，更新的 0 条；已经在这里的 0")
    assert "“搬家计划” 5" in said.err
    data = nebula("import", str(SAMPLES / "claude.json"), "--from", "claude", "--json").data
    assert (data["from"], data["added"], data["passed"]) == ("claude", 2, {"a reply": 1, "no text": 1})
    assert len(nebula("list", "--json").data["memories"]) == 2


def test_command_refuses(nebula: Nebula) -> None:
    """A format it does not know is answered by those it does; what belongs to --from needs it."""
    said = nebula("import", str(SAMPLES / "claude.json"), "--from", "gemini")
    assert said.code == 2
    assert "mcp-memory" in said.err
    assert nebula("import", str(SAMPLES / "claude.json"), "--replies").code == 2
    assert nebula("import", str(SAMPLES / "claude.json")).code == 3


def test_broken_off_while_vectors_are_made(nebula: Nebula, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C: every memory is there, the person is told so, and the next import finds all here."""

    def broken_off(*_: object) -> None:
        raise KeyboardInterrupt

    argv = ("import", str(SAMPLES / "claude.json"), "--from", "claude")
    with monkeypatch.context() as patch:
        patch.setattr(Mind, "follow", broken_off)
        said = nebula(*argv)
    assert (said.code, said.out) == (130, "")
    assert "已写下的记忆和已做好的向量都在" in said.err
    assert nebula(*argv, "--json").data["here"] == 2


def test_found_by_tag_and_text(mind: Mind) -> None:
    """What came is recalled like anything else."""
    taken(mind, SAMPLES / "chatgpt.json", "chatgpt")
    hits = mind.recall("渡轮", filters=Filters(tags=("chatgpt",))).hits
    assert hits[0].memory.ref == "n1"


@pytest.mark.torture
def test_a_large_export_in_little_memory(mind: Mind, tmp_path: Path) -> None:
    """200 MB of conversations are read one at a time."""
    import tracemalloc

    talk = json.loads((SAMPLES / "claude.json").read_text(encoding="utf-8"))[0]
    path = tmp_path / "conversations.json"
    with path.open("w", encoding="utf-8") as file:
        for number in range(200):
            reply = {"uuid": "r", "sender": "assistant", "text": "字" * 350_000}
            messages = [*talk["chat_messages"], reply]
            said = json.dumps({**talk, "uuid": str(number), "chat_messages": messages}, ensure_ascii=False)
            file.write(("[" if number == 0 else ",") + said)
        file.write("]")
    assert path.stat().st_size > 200_000_000
    tracemalloc.start()
    found = taken(mind, path, "claude", dry_run=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.added == 400
    assert peak < 40_000_000


@pytest.mark.parametrize("kind", ["chatgpt", "claude"])
@pytest.mark.parametrize(("held", "code"), [('[1, 2, "x", null]', 3), ("[]", 0), ("[1, 2", 3)])
def test_a_list_of_what_is_no_conversation(nebula: Nebula, tmp_path: Path, kind: str, held: str, code: int) -> None:
    """It is refused, not taken for an export without conversations."""
    (tmp_path / "conversations.json").write_text(held, encoding="utf-8")
    assert nebula("import", "--from", kind, str(tmp_path / "conversations.json")).code == code
