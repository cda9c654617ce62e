"""R3: death at every system call that changes a disk; R4: an error at each of them, and writes that come up short."""

from __future__ import annotations

import json
import resource
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.torture import syscalls
from tests.torture.harness import (
    NEBULA,
    clear_line,
    copy,
    damages,
    environment,
    evenly,
    full,
    has_strace,
    inside,
    ledgers,
    only_grown,
    texts,
    tree,
    unguarded,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Record = Callable[[str, object], None]

pytestmark = [pytest.mark.process, pytest.mark.skipif(not has_strace(), reason="strace can't trace here")]

SPOKEN = "灯塔看守换人了"
COMMANDS = {
    "add": ("add", SPOKEN, "--tag", "海"),
    "recall": ("recall", "渡轮", "--json"),
    "consolidate": ("consolidate",),
    "embed": ("embed", "--build"),
    "feel": ("mood", "feel", "sad", "0.5"),
    "config": ("config", "set", "recall.k", "13"),
    "edit": ("edit", "n1", "渡轮改到七点开了"),
    "repair": ("doctor", "--repair"),
    "subject event": ("subject", "event", "a", "她说她叫林汐", "--project", "PROJECT"),
    "subject memory": ("subject", "memory", "a", "set", "林汐", "她把伞分了我一半", "--project", "PROJECT"),
}
SUBJECT = ("events.jsonl", "memory.history.jsonl", "memory.jsonl")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a mind and a project of a story, to be copied for every death."""
    folder = tmp_path_factory.mktemp("torture")
    mind = folder / "home" / "mind"
    for argv in (
        ("add", "渡轮早上六点开"),
        ("add", "答应妈妈搬回青岛", "--ledger", "promises"),
        ("mood", "feel", "happy", "0.5"),
        ("config", "set", "recall.k", "14"),
        ("subject", "init", "a", "--event", "开学了", "--memory", "门=关着", "--project", str(mind.parent / "p")),
    ):
        code, _, said = inside(mind, *argv)
        assert code == 0, said
    return folder / "home"


def prepared(home: Path, target: Path, name: str) -> tuple[Path, list[str]]:
    """A fresh copy, and the command's words for it; what is to be mended or built is damaged first."""
    copy(home, target)
    mind = target / "mind"
    if name == "repair":
        with (mind / "notes.jsonl").open("ab") as file:
            file.write(b"{torn\n")
    if name == "embed":
        for path in (mind / ".index").rglob("vec-*"):
            path.unlink()
    return mind, [str(target / "p") if word == "PROJECT" else word for word in COMMANDS[name]]


def sound(target: Path, before: dict[str, bytes], views: bytes, name: str) -> list[str]:
    """What is wrong after a death: nothing, where every memory is there once and whole and every command works."""
    mind, found = target / "mind", []
    if name != "repair" and not only_grown(mind, before):
        found.append("a ledger lost bytes")
    if name != "repair" and damages(mind):
        found.append("a line can't be read")
    there = texts(mind)
    if any(there.count(text) != 1 for text in ("渡轮早上六点开", "答应妈妈搬回青岛")) or there.count(SPOKEN) > 1:
        found.append(f"memories: {there}")
    for argv in (("recall", "渡轮", "--json"), ("mood",), ("list",), ("add", "之后又一条"), ("consolidate",)):
        code, _, said = inside(mind, *argv)
        if code or "Traceback" in said:
            found.append(f"{argv}: {code} {said}")
    project = ("--project", str(target / "p"))
    for words in (("memory", "a", "show", "门"), ("search", "a", "开学")):
        done = inside(mind, "subject", *words, *project)
        if done[0]:
            found.append(f"{words}: {done}")
    kept = (target / "p" / "simulation" / "subjects" / "a" / "memory.jsonl").read_bytes()
    if views and not kept.startswith(views):
        found.append("a view is gone")
    return found + (["the settings are gone"] if not (mind / "mind-config.json").read_bytes().strip() else [])


def deaths(
    home: Path, work: Path, name: str, most: int | None, command: Sequence[str] = NEBULA
) -> tuple[int, list[str]]:
    """Kill the command at each of its changing calls (or some, spread over all); -> how many, what was wrong."""
    views = (home / "p" / "simulation" / "subjects" / "a" / "memory.jsonl").read_bytes()
    mind, argv = prepared(home, work / "c", name)
    points = syscalls.points(syscalls.calls(mind, argv, syscalls.CHANGING, command=command))
    wrong = []
    chosen = points if most is None else list(evenly(points, most))
    for call, number in chosen:
        mind, argv = prepared(home, work / "c", name)
        before = ledgers(mind)
        done = syscalls.tampered(mind, argv, call, number, "signal=KILL", command=command)
        assert done.returncode == -9, f"{call} {number} was survived"
        wrong += [f"{call} {number}: {fault}" for fault in sound(work / "c", before, views, name)]
    return len(chosen), wrong


@pytest.mark.parametrize(("name", "most"), [("add", 2), *(full(name, None) for name in COMMANDS)])
def test_death_at_every_call(home: Path, tmp_path: Path, record_property: Record, name: str, most: int | None) -> None:
    """Every earlier memory is readable, once and whole, and the next commands work."""
    count, wrong = deaths(home, tmp_path, name, most)
    record_property(f"{name}: deaths at each changing call", f"{count}, {len(wrong)} faults")
    assert wrong == []
    assert count >= 2


@pytest.mark.parametrize("most", [None])
def test_death_where_files_are_replaced_in_place(
    home: Path, tmp_path: Path, record_property: Record, most: int | None
) -> None:
    """The control: emptied and written anew, a file is empty after a death in between."""
    count, wrong = deaths(home, tmp_path, "config", most, unguarded("rename"))
    record_property("control, files replaced in place: faults", f"{len(wrong)} in {count} deaths")
    assert any("settings" in fault or "recall" in fault for fault in wrong)


ERRORS = ("EIO", "ENOSPC", "EINTR")
#: Calls that an error of the disk can't be told from: the console's own, and those on what is derived or a probe.
CONSOLE = r"\((1|2)<"


def refused_or_done(done: subprocess.CompletedProcess[bytes], mind: Path, before: dict[str, bytes]) -> str:
    """What is wrong after a call failed: "" for exit 3, one clear line and the old bytes, or for all being done."""
    said = done.stderr.decode()
    after = ledgers(mind)
    if "Traceback" in said or done.returncode not in (0, 3):
        return f"exit {done.returncode}: {said}"
    if done.returncode == 3 and len(said.strip().splitlines()) != 1:
        return f"exit 3 with {said!r}"
    if not only_grown(mind, before) or damages(mind):
        return "a ledger is neither as it was nor whole"
    new = after["notes.jsonl"][len(before["notes.jsonl"]) :]
    if new.count(b"\n") > 1 or (new and not new.endswith(b"\n")):
        return f"more than one whole line: {new!r}"
    if done.returncode == 0 and SPOKEN not in texts(mind) and SPOKEN in str(done.args):
        return "said to be done, and is not there"
    return ""


def failures(
    home: Path, work: Path, name: str, errors: Sequence[str], most: int | None, command: Sequence[str] = NEBULA
) -> tuple[int, list[str]]:
    mind, argv = prepared(home, work / "c", name)
    points = syscalls.points(syscalls.calls(mind, argv, syscalls.FAILING, command=command), but=CONSOLE)
    wrong, count = [], 0
    for error in errors:
        for call, number in points if most is None else evenly(points, most):
            mind, argv = prepared(home, work / "c", name)
            before = ledgers(mind)
            done = syscalls.tampered(mind, argv, call, number, f"error={error}", command=command)
            fault = refused_or_done(done, mind, before)
            config = (mind / "mind-config.json").read_bytes()
            if not config.strip():
                fault = fault or "the settings are gone"
            wrong += [f"{error} at {call} {number}: {fault}"] if fault else []
            count += 1
    return count, wrong


@pytest.mark.parametrize(
    ("name", "errors", "most"),
    [("add", ("EIO",), 2), *(full(name, ERRORS, None) for name in COMMANDS if name != "repair")],
)
def test_an_error_at_every_call(
    home: Path, tmp_path: Path, record_property: Record, name: str, errors: Sequence[str], most: int | None
) -> None:
    """EIO, ENOSPC, EINTR: exit 3 with one line and the ledger as it was, or done with one whole line more."""
    count, wrong = failures(home, tmp_path, name, errors, most)
    record_property(f"{name}: errors at each write, sync and rename", f"{count}, {len(wrong)} faults")
    assert wrong == []
    assert count >= 2


def limited(mind: Path, limit: int, *argv: str, command: Sequence[str] = NEBULA) -> subprocess.CompletedProcess[bytes]:
    """The command where no file may grow beyond `limit` bytes: a write then takes only part."""

    def shrink() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [*command, *argv],
        env=environment(mind),
        capture_output=True,
        check=False,
        timeout=60,
        preexec_fn=shrink,
        input=b"",
    )


@pytest.mark.parametrize("step", [250, full(7)])
def test_short_writes(home: Path, tmp_path: Path, record_property: Record, step: int) -> None:
    """A write that takes only part of a line, at every length of that part: exit 3, one line, the ledger as it was."""
    before = (home / "mind" / "notes.jsonl").read_bytes()
    count = 0
    for room in range(1, 400, step):
        mind, argv = prepared(home, tmp_path / "c", "add")
        argv[1] = SPOKEN * 20
        done = limited(mind, len(before) + room, *argv)
        assert done.returncode == 3
        assert "notes.jsonl" in clear_line(done)
        assert (mind / "notes.jsonl").read_bytes() == before
        count += 1
    record_property("short writes", f"{count}, 0 faults")


@pytest.mark.parametrize(("guard", "fault"), [("cut-back", "torn"), ("count", "lost")])
def test_short_writes_without_guards(
    home: Path, tmp_path: Path, record_property: Record, guard: str, fault: str
) -> None:
    """The controls: what is not cut back stays as a torn line; a count that nobody reads loses the memory unsaid."""
    before = (home / "mind" / "notes.jsonl").read_bytes()
    mind, argv = prepared(home, tmp_path / "c", "add")
    argv[1] = SPOKEN * 20
    done = limited(mind, len(before) + 100, *argv, command=unguarded(guard))
    torn = (mind / "notes.jsonl").read_bytes() != before
    lost = done.returncode == 0 and argv[1] not in texts(mind)
    record_property(f"control, {guard} off", fault)
    assert torn
    assert lost == (fault == "lost")


def test_json_of_a_refusal(home: Path, tmp_path: Path) -> None:
    """The same in JSON: one document on stdout that names the file."""
    mind, argv = prepared(home, tmp_path / "c", "add")
    done = syscalls.tampered(mind, [*argv, "--json"], "fdatasync", 1, "error=EIO")
    assert done.returncode == 3
    assert "notes.jsonl" in json.loads(done.stdout)["error"]["message"]
    assert tree(mind) == tree(home / "mind")
