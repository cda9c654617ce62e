"""A move of the mind that dies at any step leaves one mind, whole, and no copy that a later erase would not see."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from nebula import erase, relocate
from nebula.errors import FileUnusable
from nebula.mind import Mind
from nebula.mindlib import files
from nebula.mindlib.store import MOVING

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="dies by SIGKILL in a fork")
SAID = "钥匙在第三个花盆下面"
STEPS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod"}


def die_at(step: int, mind: Mind, target: Path) -> bool:
    """Move in a child that is killed before its step; -> whether it was."""
    child = os.fork()
    if child == 0:
        count = 0

        def hook(event: str, _: tuple[Any, ...]) -> None:
            nonlocal count
            if event in STEPS:
                count += 1
                if count == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        try:
            relocate.move(mind, target)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def holding(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file() and SAID.encode() in path.read_bytes()]


@pytest.mark.parametrize("first", ["source", "target"])
@pytest.mark.parametrize("stride", [pytest.param(1, marks=pytest.mark.torture), 8])
def test_a_move_killed_at_any_step_leaves_one_mind(tmp_path: Path, first: str, stride: int) -> None:
    """Whichever place is opened first has all of it; then no other file holds the text, and erase leaves none."""
    step, ended = 0, False
    both = 0
    while not ended:
        step += stride
        root = tmp_path / str(step)
        source, target = root / "old" / "mind", root / "new" / "mind"
        Mind(source).add(SAID)
        ended = not die_at(step, Mind(source), target)
        both += (source / MOVING).exists() and (target / MOVING).exists()
        places = [source, target] if first == "source" else [target, source]
        mind = Mind(next(place for place in places if (place / "notes.jsonl").exists()))
        assert [memory.text for memory in mind.store.read_all().memories] == [SAID], step
        assert {path.parent for path in holding(root)} <= {mind.folder, *mind.folder.rglob("*")}, step
        assert not (mind.folder / MOVING).exists(), step
        assert not [path.name for path in root.glob("*/.mind.*")], step
        erase.erase(mind, erase.plan(mind, ["n1"]))
        assert holding(root) == [], step
    assert step > 20
    assert both or stride > 1  # a state with two whole minds was among them


def test_a_move_that_is_under_way_is_left_alone(tmp_path: Path) -> None:
    """Reading goes on while another process holds the locks; its copy is not taken from it."""
    source, target = tmp_path / "mind", tmp_path / "there"
    Mind(source).add(SAID)
    beside = tmp_path / ".there.00000000.tmp"
    beside.mkdir()
    written = {"source": source, "target": target, "beside": beside, "rubbish": tmp_path / ".mind.00000000.moved"}
    (source / MOVING).write_text(json.dumps({name: str(path) for name, path in written.items()}))
    with files.job_lock(source / ".erase.lock"):
        assert Mind(source).store.read_all().memories
        assert beside.exists()
    Mind(source)
    assert not beside.exists()
    assert not (source / MOVING).exists()


def test_a_strangers_record_of_a_move_clears_nothing(tmp_path: Path) -> None:
    """Only folders that bear a move's own names beside the two places are cleared away."""
    source, dear = tmp_path / "mind", tmp_path / "dear"
    Mind(source).add(SAID)
    dear.mkdir()
    written = {"source": source, "target": tmp_path / "there", "beside": dear, "rubbish": dear}
    (source / MOVING).write_text(json.dumps({name: str(path) for name, path in written.items()}))
    Mind(source)
    assert dear.is_dir()


def test_a_copy_that_was_written_to_since_is_kept(tmp_path: Path) -> None:
    """Both places hold the mind and one got a memory from a program that knows no record of moves: none is lost."""
    source, target = tmp_path / "mind", tmp_path / "there"
    Mind(source).add(SAID)
    step = 0
    while not ((source / MOVING).exists() and (target / MOVING).exists()):
        step += 1
        Mind(source)
        assert die_at(step, Mind(source), target)
    with (target / "notes.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": 2, "text": "new"}\n')
    Mind(source)
    assert len(Mind(target).store.read_all().memories) == 2


def test_two_places_that_differ_are_told_of(tmp_path: Path) -> None:
    """A move whose copy was written to is over: both are kept, and the next command names them."""
    source, target = tmp_path / "mind", tmp_path / "there"
    Mind(source).add(SAID)
    beside, rubbish = tmp_path / ".there.00000000.tmp", tmp_path / ".mind.00000000.moved"
    written = {"source": source, "target": target, "beside": beside, "rubbish": rubbish}
    told = json.dumps({name: str(path) for name, path in written.items()})
    shutil.copytree(source, target)
    with (target / "notes.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": 2, "text": "new"}\n')
    for place in (source, target):
        (place / MOVING).write_text(told)
    notices = Mind(source).notices
    assert [(notice.code, notice.facts["other"]) for notice in notices] == [("move_differs", target)]
    assert len(Mind(target).store.read_all().memories) == 2


@pytest.mark.parametrize("within", ["", "subjects"])
def test_a_pipe_in_the_folder_is_refused_not_waited_for(tmp_path: Path, within: str) -> None:
    source, target = tmp_path / "mind", tmp_path / "there"
    mind = Mind(source)
    mind.add(SAID)
    (source / within).mkdir(exist_ok=True)
    os.mkfifo(source / within / "pipe")
    with pytest.raises(FileUnusable, match="pipe"):
        relocate.move(mind, target)
    assert not target.exists()
    assert [memory.text for memory in Mind(source).store.read_all().memories] == [SAID]
