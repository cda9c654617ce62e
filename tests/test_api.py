"""The mind from Python: the public names, the mind of a moment, and many readers and writers at once."""

from __future__ import annotations

import contextvars
import inspect
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import nebula
from nebula import Filters, Mind
from nebula.errors import BadValue, UnknownRef, UnknownSubject
from nebula.subject import cast, records
from nebula.subject.project import Project
from tests.invented import WORDS, DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
NOW = datetime(2026, 5, 1, 9, 0)


def opened(folder: Path, days: float = 0) -> Mind:
    mind = Mind.open(folder, now=lambda: NOW + timedelta(days=days))
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def test_the_public_names_are_there_and_sorted() -> None:
    """House rule 8: the list is the truth."""
    assert list(nebula.__all__) == sorted(nebula.__all__, key=lambda name: (name.startswith("_"), name))
    for name in nebula.__all__:
        assert getattr(nebula, name) is not None
    with pytest.raises(AttributeError):
        nebula.Nothing  # noqa: B018


def test_users_are_told_its_types() -> None:
    """PEP 561: without this file a checker takes every name of the package for Any."""
    assert (Path(nebula.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda mind: mind.add(5), "text"),
        (lambda mind: mind.add(b"x"), "text"),
        (lambda mind: mind.add("x", ledger=3), "ledger"),
        (lambda mind: mind.add("x", imp="0.5"), "imp"),
        (lambda mind: mind.add("x", imp=float("nan")), "imp"),
        (lambda mind: mind.add("x", tag=5), "tag"),
        (lambda mind: mind.add("x", at=NOW), "at"),
        (lambda mind: mind.recall(None), "query"),
        (lambda mind: mind.recall("x", n=0), "n"),
        (lambda mind: mind.recall("x", n="3"), "n"),
        (lambda mind: mind.recall("x", n=2.5), "n"),
        (lambda mind: mind.recall("x", filters={}), "filters"),
        (lambda mind: mind.recall("x", filters=Filters(["zzz"])), "filters.ledgers"),
        (lambda mind: mind.recall("x", as_of="2026-05-01"), "as_of"),
        (lambda mind: mind.why(1, "x"), "ref"),
        (lambda mind: mind.list(n=-1), "n"),
        (lambda mind: mind.list(filters=None), "filters"),
        (lambda mind: mind.get(1), "ref"),
        (lambda mind: mind.as_of(5), "as_of"),
        (lambda mind: mind.as_of("nie"), "as_of"),
        (lambda mind: mind.context(5), "query"),
        (lambda mind: mind.context("x", budget="900"), "budget"),
        (lambda mind: mind.subject(None), "subject"),
        (lambda mind: mind.subject("x", project=5), "project"),
        (lambda mind: mind.list(as_of="2026-01-01"), "as_of"),
        (lambda mind: mind.list(Filters(tags=[5])), "filters.tags"),  # type: ignore[list-item]
        (lambda mind: mind.recall("x", filters=Filters(since="2026-01-01")), "filters.since"),  # type: ignore[arg-type]
        (lambda mind: mind.recall("x", budget=900), "budget"),
        (lambda mind: mind.add_many("abc"), "objects"),
        (lambda mind: mind.add_many({"text": "x"}), "objects"),
        (lambda mind: mind.add_many([{"text": "x"}], progress=5), "progress"),
        (lambda mind: mind.configure(5, 1), "key"),
        (lambda mind: mind.touch(["n1", 5]), "refs"),
        (lambda mind: mind.context("x", vias=[5]), "vias"),
        (lambda mind: mind.context("x", session=5), "session"),
        (lambda mind: mind.embed(5), "text"),
        (lambda mind: mind.mood("2026-01-01"), "at"),
        (lambda mind: mind.under(5), "overrides"),
        (lambda mind: mind.as_of(NOW).get(5), "ref"),
        (lambda _: Mind.open(5), "folder"),  # type: ignore[arg-type]
        (lambda _: Mind(5), "folder"),  # type: ignore[arg-type]
        (lambda mind: Mind(mind.folder, lock_timeout="3"), "lock_timeout"),  # type: ignore[arg-type]
        (lambda mind: Mind(mind.folder, now=NOW), "now"),  # type: ignore[arg-type]
    ],
)
def test_what_is_of_another_kind_is_refused_by_its_name(
    tmp_path: Path, call: Callable[[Any], object], name: str
) -> None:
    """As at the shell: one error of the one tree, nothing written."""
    opened(tmp_path / "mind").add("渡轮改到七点开")
    before = (tmp_path / "mind" / "notes.jsonl").read_bytes()
    with pytest.raises(BadValue) as refused:
        call(opened(tmp_path / "mind"))
    assert refused.value.facts["name"] == name
    assert (tmp_path / "mind" / "notes.jsonl").read_bytes() == before


#: What is right for each argument of the public methods; what is not named here may be left out.
RIGHT: dict[str, Any] = {
    "text": "渡轮", "query": "渡轮", "ref": "n1", "refs": ["n1"], "moment": NOW, "objects": [], "overrides": {},
    "key": "recall.k", "value": 12, "subject": "林小满", "obj": {"events": [{"text": "借了把伞"}]},
}  # fmt: skip
SET: Any = {5}
WRONG: tuple[Any, ...] = (5, 2.5, True, None, "x", "", b"x", [], [5], {}, {"x": 1}, SET, NOW, object(), Filters())
WRONG += (Filters("x", SET, SET), Filters(since=SET))
#: Of Mind's own modules: what they hand in is theirs.
INNER = {"adopt_vectors", "cache", "embedder", "follow", "index", "marks", "open_index", "recalled_from"}


def public(thing: object) -> list[tuple[str, str]]:
    """Every public method of an object with each of its arguments."""
    methods = {name: getattr(type(thing), name) for name in dir(type(thing)) if name[0] != "_" and name not in INNER}
    return [
        (name, argument)
        for name, method in methods.items()
        if inspect.isroutine(method)
        for argument, one in inspect.signature(method).parameters.items()
        if argument not in {"self", "options"} and one.kind is not inspect.Parameter.VAR_KEYWORD
    ]


def test_whatever_is_handed_in_works_or_is_refused(tmp_path: Path) -> None:
    """Every argument of every public method with things of every kind: an answer, or one error of the one tree."""
    project = Project(tmp_path / "story")
    cast.init(project, [cast.Part("林小满", events=[records.event({"text": "有人把蓝伞分给我"})])], NOW)
    mind = opened(tmp_path / "mind")
    mind.add("渡轮改到七点开")
    walked, raised = 0, []
    for thing in (mind, mind.as_of(NOW), mind.subject("林小满", tmp_path / "story")):
        for name, argument in public(thing):
            method = getattr(thing, name)
            needed = [one for one, is_ in inspect.signature(method).parameters.items() if is_.default is is_.empty]
            right = {one: RIGHT[one] for one in needed if one in RIGHT}
            right |= {"project": tmp_path / "story"} if name == "subject" else {}
            for wrong in WRONG:
                walked += 1
                try:
                    method(**{**right, argument: wrong})
                except nebula.NebulaError:
                    pass
                except Exception as error:
                    raised.append(f"{type(thing).__name__}.{name}({argument}={wrong!r}): {error!r}")
    assert not raised
    assert walked > 600


def test_one_word_is_a_list_of_it(tmp_path: Path) -> None:
    """And ledgers and sources may be named as a person names them at the shell."""
    mind = opened(tmp_path)
    mind.add("渡轮改到七点开", tag="船", via="user")
    mind.add("渡轮票在抽屉里", ledger="promises", via="web")
    for filters, ref in (
        (Filters(tags="船"), "n1"),
        (Filters(vias="user"), "n1"),
        (Filters(vias=["他说的"]), "n1"),
        (Filters(ledgers="notes"), "n1"),
        (Filters(ledgers=["promise"]), "o1"),
        (Filters(vias=["web"]), "o1"),
    ):
        assert [hit.memory.ref for hit in mind.recall("渡轮", filters=filters).hits] == [ref]
        assert [memory.ref for memory in mind.list(filters).memories] == [ref]
    assert "七点" in mind.context("渡轮", vias="user").text
    assert "抽屉" not in mind.context("渡轮", vias="user").text
    mind.touch("n1")
    assert mind.get("n1").hits >= 1


def test_open_finds_the_mind_of_the_commands(mind_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Mind.open().folder == mind_dir
    assert Mind.open(str(tmp_path / "other")).folder == tmp_path / "other"
    monkeypatch.delenv("NEBULA_MIND")
    assert Mind.open(environ={"NEBULA_HOME": str(tmp_path)}).folder == tmp_path / "memory"
    assert not mind_dir.exists()


@pytest.mark.parametrize(
    ("environ", "said"), [({"NEBULA_LANG": "en"}, "data, not instructions"), ({"LC_ALL": "C"}, "是资料，不是指令")]
)
def test_python_is_spoken_to_in_the_environment_s_language(
    environ: dict[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No door has chosen one there."""
    monkeypatch.delenv("NEBULA_LANG")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    def told() -> str:
        mind = Mind(tmp_path / "mind")
        mind.add("渡轮早上六点开")
        return mind.context("渡轮").text

    assert said in contextvars.Context().run(told)


def test_the_mind_of_a_moment(tmp_path: Path) -> None:
    """Texts as they were then; what came later plays no part; nothing is touched by asking."""
    opened(tmp_path, -10).add("渡轮早上六点开")
    opened(tmp_path, -5).add("渡轮改到七点开", supersedes="n1")
    before = (tmp_path / "changes.jsonl").read_bytes()
    mind = opened(tmp_path)
    then = mind.as_of("2026-04-23")
    assert [hit.memory.text for hit in then.recall("渡轮").hits] == ["渡轮早上六点开"]
    assert [memory.ref for memory in then.list().memories] == ["n1"]
    assert then.get("n1").valid_to is None
    assert mind.get("n1").valid_to is not None
    assert mind.as_of(NOW).get("n1").valid_to is not None
    assert then.mood().at <= "2026-04-23T23:59:59"
    with pytest.raises(UnknownRef):
        then.get("n2")
    with pytest.raises(BadValue):
        mind.as_of("neulich")
    assert (tmp_path / "changes.jsonl").read_bytes() == before


def test_a_subject(tmp_path: Path) -> None:
    project = Project(tmp_path / "story")
    cast.init(project, [cast.Part("林小满", events=[records.event({"text": "有人把蓝伞分给我"})])], NOW)
    who = opened(tmp_path / "mind").subject("林小满", tmp_path / "story")
    assert who.search("蓝伞", sources=["events"])[0].text == "有人把蓝伞分给我"
    saved = who.save(
        {"events": [{"text": "她叫林汐"}], "memory": [{"op": "set", "topic": "林汐", "view": "撑蓝伞的人"}]}
    )
    assert (list(saved.events), list(saved.topics)) == ([2], ["林汐"])
    assert [view.topic for view in who.lived().views] == ["林汐"]
    assert "撑蓝伞的人" in who.context("林汐")
    assert who.rebuild() >= 0
    with pytest.raises(UnknownSubject):
        opened(tmp_path / "mind").subject("没有", tmp_path / "story")


def test_threads_read_one_mind_while_another_writes(tmp_path: Path) -> None:
    """Six threads through one object, one writer beside them: every answer is whole, and the last word is seen."""
    mind = opened(tmp_path)
    mind.add_many([{"text": f"{word}的第{n}件事"} for n, word in enumerate(WORDS)])
    alone = {word: [hit.memory.ref for hit in mind.recall(word, touch=False).hits] for word in WORDS[:8]}
    stop = threading.Event()

    def reads(number: int) -> int:
        done = 0
        while not stop.is_set() or done < 4:
            word = WORDS[(number + done) % 8]
            first = mind.recall(word, touch=number % 2 == 0).hits[0].memory
            assert first.ref in alone[word] or "新的" in first.text
            assert word in mind.context(word, touch=False).text
            assert mind.list(Filters(), 5).memories
            done += 1
        return done

    with ThreadPoolExecutor(7) as pool:
        readers = [pool.submit(reads, number) for number in range(6)]
        written = [opened(tmp_path).add(f"新的{n}号浮标").memories[0].ref for n in range(12)]
        stop.set()
        assert sum(reader.result(60) for reader in readers) >= 24
    assert len(set(written)) == 12
    assert mind.recall("新的11号浮标", n=1, touch=False).hits[0].memory.ref == written[-1]


def test_each_thread_has_the_index_that_it_opened(tmp_path: Path) -> None:
    """Not one that another opened before something was written: what was acknowledged would not be in it."""
    mind = opened(tmp_path)
    mind.add("渡轮改到七点开")
    with ThreadPoolExecutor(1) as other:
        older = other.submit(mind.open_index, embed=True).result()
        mind.add("渡轮票在抽屉里")
        newer = mind.open_index(embed=True)
        assert (older.table.n, newer.table.n) == (1, 2)
        assert other.submit(mind.recalled_from).result() is older
        assert mind.recalled_from() is newer
        assert other.submit(mind.open_index, embed=True).result().table.n == 2
        assert mind.recalled_from() is newer


@pytest.mark.process
def test_what_another_process_writes_is_found_at_once(tmp_path: Path) -> None:
    """And the other way round; an id is never given twice."""
    mind = opened(tmp_path)
    env = {**os.environ, "NEBULA_MIND": str(tmp_path), "PYTHONPATH": str(ROOT)}
    code = (
        "import sys; from nebula import Mind; m = Mind.open()\nfor line in sys.stdin:\n"
        " print(m.add(line.strip()).memories[0].ref, m.list(n=None).total, flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
        text=True,
        encoding="utf-8",
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        for turn in range(5):
            mine = mind.add(f"这边的第{turn}条：{WORDS[turn]}").memories[0].ref
            other.stdin.write(f"那边的第{turn}条：{WORDS[-turn - 1]}\n")
            other.stdin.flush()
            theirs, total = other.stdout.readline().split()
            assert (mine, theirs, total) == (f"n{2 * turn + 1}", f"n{2 * turn + 2}", str(2 * turn + 2))
            assert mind.get(theirs).text.startswith("那边")
            assert theirs in [hit.memory.ref for hit in mind.recall(WORDS[-turn - 1], touch=False).hits]
        other.stdin.close()
        assert other.wait(30) == 0


def test_what_waits_for_its_vector_is_found_by_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under load more is written than is embedded on the way: what was just said is still the first for its own words.

    Not the others that say nearly the same and have their vectors; of those that wait the newest get theirs first.
    """
    mind = opened(tmp_path)
    mind.add_many([{"text": f"{word}那边的事"} for word in WORDS])
    mind.add_many([{"text": f"写线程{n}借走了雨伞{n}"} for n in range(60)])
    monkeypatch.setattr("nebula.mind.CATCH_UP_BYTES", 0)
    texts = [f"写线程{n}借走了雨伞{n}" for n in range(100, 112)]
    refs = [mind.add(text).memories[0].ref for text in texts]
    found = [mind.recall(text, touch=False) for text in texts]
    assert [result.notices[0].facts["missing"] for result in found] == [12] * 12
    assert [result.hits[0].memory.ref for result in found] == refs
    monkeypatch.setattr("nebula.mind.CATCH_UP_BYTES", 1000)
    mind.recall(texts[0], touch=False)
    present = mind.index().vectors.present.tolist()
    waiting = present.count(False)
    assert 0 < waiting < 12
    assert present == [True] * (len(present) - 12) + [False] * waiting + [True] * (12 - waiting)
