"""R5 a full disk, R9 many at once, R11 a folder that can only be read, R12 a lock whose holder has stopped."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from nebula.mind import Mind
from tests.torture.harness import (
    NEBULA,
    ROOT,
    clear_line,
    damages,
    environment,
    full,
    has_namespaces,
    inside,
    run,
    texts,
    tree,
    unguarded,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Record = Callable[[str, object], None]

pytestmark = pytest.mark.process
COMMANDS = [sys.executable, "-m", "tests.torture.commands"]
private = pytest.mark.skipif(not has_namespaces(), reason="a private mount namespace needs root and unshare")


@pytest.fixture
def mind(tmp_path: Path) -> Path:
    folder = tmp_path / "mind"
    assert inside(folder, "add", "渡轮早上六点开")[0] == 0
    return folder


#: What is tried while a disk runs full: each writes by another way.
WRITING = (
    "add 写不下的一条 --imp 0.9", "config set recall.k 13", "mood feel sad 0.5", "edit n1 渡轮改到七点开了",
    "consolidate",    "tag n1 出行", "longterm edit -", "map", "doctor --repair", "recall 渡轮",
)  # fmt: skip
FULL_DISK = """
set -e
mount -t tmpfs -o size=%(size)s none %(disk)s
cp -a %(mind)s %(disk)s/mind
dd if=/dev/zero of=%(disk)s/filler bs=1 seek=0 count=0 2>/dev/null
avail=$(df --output=avail -k %(disk)s | tail -1)
keep=%(keep)s
if [ $avail -gt $keep ]; then dd if=/dev/zero of=%(disk)s/filler bs=1k count=$((avail - keep)) 2>/dev/null || true; fi
export NEBULA_MIND=%(disk)s/mind
printf '新的长期笔记' > /tmp/words.$$
%(commands)s
cp -a %(disk)s/mind %(out)s
"""


def filled(
    tmp_path: Path, mind: Path, keep: int, command: Sequence[str] = NEBULA
) -> tuple[dict[str, bytes], dict[str, bytes], str]:
    """The files before and after every command on a 64 kB disk with `keep` kB left, and what was said."""
    disk, out = tmp_path / "disk", tmp_path / f"out-{keep}"
    disk.mkdir(exist_ok=True)
    if command == NEBULA:  # one process for them all: that the disk is full is the point, not the process
        lines = "\n".join([f"{shlex.join(COMMANDS)} <<'END' >> {tmp_path}/said 2>&1", *WRITING, "END"])
    else:
        tool = shlex.join(command)
        lines = "\n".join(
            f"echo 新的 | {tool} {words} >> {tmp_path}/said 2>&1 || echo exit $? >> {tmp_path}/said"
            for words in WRITING
        )
    script = FULL_DISK % {"size": "64k", "disk": disk, "mind": mind, "keep": keep, "commands": lines, "out": out}
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], env=environment(mind), capture_output=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr.decode()
    before = {path.name: path.read_bytes() for path in mind.iterdir() if path.is_file()}
    after = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    return before, after, (tmp_path / "said").read_text("utf-8")


def worse(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """Files that are gone, emptied or cut; a replaced one may be old or new but never nothing."""
    found = [
        name for name, data in before.items() if name.endswith(".jsonl") and not after.get(name, b"").startswith(data)
    ]
    found += [name for name, data in before.items() if data and not after.get(name)]
    for name in ("mind-config.json", "mood-state.json"):
        try:
            json.loads(after.get(name, b"{}"))
        except ValueError:
            found.append(name)
    return found


@private
@pytest.mark.parametrize("keep", [0, *(full(keep) for keep in (4, 8, 12, 16, 20))])
def test_a_full_disk(tmp_path: Path, mind: Path, record_property: Record, keep: int) -> None:
    """No file is shorter or empty afterwards, whatever was tried; reading still works, nothing says traceback."""
    assert inside(mind, "config", "set", "recall.k", "14")[0] == 0
    before, after, said = filled(tmp_path, mind, keep)
    record_property(f"64 kB disk with {keep} kB left: files that are worse", len(worse(before, after)))
    assert worse(before, after) == []
    assert "Traceback" not in said
    assert "exit 3" in said or keep


@private
@pytest.mark.torture
def test_a_full_disk_where_files_are_replaced_in_place(tmp_path: Path, mind: Path, record_property: Record) -> None:
    """The control: the settings are emptied first, and grow beyond their page, for which there is no room."""
    (mind / "mind-config.json").write_text(json.dumps({"kept": "x" * 4070}), "utf-8")
    before, after, _ = filled(tmp_path, mind, 0, unguarded("rename"))
    record_property("control, files replaced in place: files that are worse", len(worse(before, after)))
    assert "mind-config.json" in worse(before, after)


def at_once(mind: Path, count: int, *argv: str, command: Sequence[str] = NEBULA) -> list[int]:
    started = [
        subprocess.Popen([*command, *argv], env=environment(mind), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(count)
    ]
    return [process.wait(300) for process in started]


@pytest.mark.parametrize("count", [3, full(50)])
def test_recalls_at_once_all_count(mind: Path, record_property: Record, count: int) -> None:
    """As many hits as recalls."""
    assert at_once(mind, count, "recall", "渡轮") == [0] * count
    hits = Mind(mind).get("n1").hits
    record_property(f"{count} recalls at once: hits", hits)
    assert hits == count


@pytest.mark.parametrize("count", [8, full(50)])
def test_recalls_at_once_by_a_counter(tmp_path: Path, mind: Path, record_property: Record, count: int) -> None:
    """The control: a number that is read, raised and written back forgets some."""
    code = (
        "import sys, time; from pathlib import Path; from nebula.mindlib.store import Store\n"
        "s = Store(Path(sys.argv[1])); n = s.scan('changes.jsonl').lines\n"
        "hits = n[-1].obj['hits'] if n else 0; time.sleep(0.05)\n"
        "s.append_lines('changes.jsonl', [{'hits': hits + 1}], durable=False)"
    )
    at_once(mind, count, "-c", code, str(tmp_path / "counted"), command=[sys.executable])
    hits = Mind(tmp_path / "counted").store.scan("changes.jsonl").lines[-1].obj["hits"]
    record_property("control, a counter: hits", f"{hits} of {count}")
    assert hits < count


@pytest.mark.parametrize("count", [2, full(8)])
def test_nights_at_once(mind: Path, record_property: Record, count: int) -> None:
    """One works, the others wait and find nothing to do, or leave with 75; no note is digested twice."""
    Mind(mind).add_many([{"text": f"夜航日记 第{number}页 风向转南"} for number in range(5)])
    codes = at_once(mind, count, "consolidate")
    summaries = [memory for memory in Mind(mind).store.read_all().memories if memory.ledger == "summaries"]
    covered = [ref for summary in summaries for ref in summary.covers]
    record_property(f"{count} nights at once: summaries", len(summaries))
    assert set(codes) <= {0, 75}
    assert len(covered) == len(set(covered)) == 6


@private
@pytest.mark.parametrize("guarded", [True, False])
def test_a_folder_that_can_only_be_read(mind: Path, record_property: Record, guarded: bool) -> None:
    """Recall, list, log, doctor and the map to stdout work; add exits 3 within a second, naming the path.

    The control: a recall that insists on being counted fails.
    """
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    before = ["unshare", "-m", "sh", "-c", script, str(mind)]
    state = tree(mind)
    if not guarded:
        assert run(mind, "recall", "渡轮", before=before, command=unguarded("touch")).returncode == 3
        record_property("control, counting insisted on: exit of recall", 3)
        return
    reading = "recall 渡轮\nlist\nlog\nshow n1\nmap -o -\nstats\ndoctor\n".encode()
    done = run(mind, before=before, command=COMMANDS, given=reading)
    assert (done.returncode, done.stderr.count(b"Traceback")) == (0, 0), done.stderr.decode()
    assert {line for line in done.stdout.splitlines() if line.startswith(b"exit ")} <= {b"exit 1"}, "doctor's alone"
    plain = time.monotonic()
    run(mind, "list", before=before)
    begun = time.monotonic()
    done = run(mind, "add", "写不进去", before=before)
    took = time.monotonic() - begun
    assert done.returncode == 3
    assert str(mind) in clear_line(done)
    record_property("read-only: seconds until add is refused", f"{took:.2f}")
    assert took <= 1 + (begun - plain)  # of a busy machine, what another command takes comes on top
    assert tree(mind) == state


HOLD = """
import sys, time; from pathlib import Path; from nebula.mindlib import files
with files.appending(Path(sys.argv[1])):
    print('held', flush=True); time.sleep(600)
"""


@pytest.mark.parametrize(("seconds", "lock"), [(0.3, True), (0.3, False), full(10, True)])
def test_a_lock_whose_holder_has_stopped(mind: Path, record_property: Record, seconds: float, lock: bool) -> None:
    """Waited for as long as was said, then 75 and the file's name; killed, free at once. Control: no lock."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(mind / "notes.jsonl")], cwd=ROOT, env=environment(mind), stdout=subprocess.PIPE
    )
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    holder.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    done = run(mind, "add", "等不到", "--lock-timeout", str(seconds), command=NEBULA if lock else unguarded("lock"))
    waited = time.monotonic() - begun
    if not lock:
        record_property("control, lock off: exit beside a stopped holder", done.returncode)
        assert done.returncode == 0
    else:
        assert done.returncode == 75
        assert "notes.jsonl" in clear_line(done)
        assert waited >= seconds
        record_property(f"stopped holder, waited {seconds} s: exit", f"75 after {waited:.1f} s")
    holder.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    from nebula.mindlib import files

    with files.appending(mind / "notes.jsonl", 5.0):
        free = time.monotonic() - killed
    holder.wait()
    holder.stdout.close()
    record_property("holder killed: free after", f"{free * 1000:.0f} ms")
    assert free < 0.1
    assert not damages(mind)
    assert "渡轮早上六点开" in texts(mind)
