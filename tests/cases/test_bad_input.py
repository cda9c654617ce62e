"""Bad input and bad disks: one clear line, the right exit code, nothing lost, no traceback."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.torture.harness import inside

ROOT = Path(__file__).parents[2]


@pytest.fixture
def mind(tmp_path: Path) -> Path:
    folder = tmp_path / "mind"
    assert nebula(folder, "add", "渡轮早上六点开").returncode == 0
    return folder


def environment(mind: Path) -> dict[str, str]:
    return {**os.environ, "NEBULA_MIND": str(mind), "NEBULA_LANG": "zh", "PYTHONPATH": str(ROOT)}


Done = subprocess.CompletedProcess[bytes]


def nebula(mind: Path, *argv: str, given: bytes = b"") -> Done:
    """The command in this process."""
    code, out, err = inside(mind, *argv, given=given)
    return Done(argv, code, out.encode(), err.encode())


def limited(mind: Path, limit: int, *argv: str) -> Done:
    """The command as a process whose files may not grow beyond `limit` bytes."""

    def shrink() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-m", "nebula", *argv]
    env = {**environment(mind), "PYTHONDONTWRITEBYTECODE": "1"}  # it would be cut short, and break whoever comes after
    return subprocess.run(command, input=b"", env=env, capture_output=True, check=False, timeout=120, preexec_fn=shrink)


def refused(done: subprocess.CompletedProcess[bytes], code: int) -> str:
    """The one line of a refusal."""
    said = done.stderr.decode()
    assert done.returncode == code, said
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1, said
    return said


def test_settings_that_are_no_json(mind: Path) -> None:
    """Exit 3, the file named, and it is left as it was."""
    config = mind / "mind-config.json"
    config.write_text("{ not json")
    for command in (["recall", "渡轮"], ["add", "一条"], ["list"]):
        assert "mind-config.json" in refused(nebula(mind, *command), 3)
    assert config.read_text() == "{ not json"
    assert nebula(mind, "doctor").returncode == 1


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ({"recall": {"k": "twelve"}}, "recall.k"),
        ({"forgetting": {"hot": 2}}, "forgetting.hot"),
        ({"recall": 5}, "recall"),
        ({"K": True}, "recall.k"),
        ({"night": {"at": "25:00"}}, "night.at"),
    ],
)
def test_settings_of_the_wrong_type_are_refused_by_name(mind: Path, raw: dict[str, object], key: str) -> None:
    """A wrong type or range is refused with the key's name (spec 10)."""
    (mind / "mind-config.json").write_text(json.dumps(raw))
    assert key in refused(nebula(mind, "recall", "渡轮"), 3)


def test_ledger_that_is_a_folder(mind: Path) -> None:
    """Exit 3 and the path; the other ledgers keep working for doctor."""
    (mind / "profile.jsonl").mkdir()
    assert "profile.jsonl" in refused(nebula(mind, "recall", "渡轮"), 3)
    assert "profile.jsonl" in refused(nebula(mind, "add", "--ledger", "profile", "他喜欢海"), 3)
    done = nebula(mind, "doctor")
    assert done.returncode == 1
    assert "profile.jsonl" in done.stdout.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["notes.jsonl", "changes.jsonl", "mind-config.json", "longterm.md"])
def test_a_pipe_in_a_file_s_place_is_waited_for_by_nobody(mind: Path, name: str) -> None:
    """Every command ends at once; what needs the file says so, with exit 3 and the path."""
    (mind / name).unlink(missing_ok=True)
    os.mkfifo(mind / name)
    done = [nebula(mind, *argv) for argv in (("context",), ("list",), ("add", "又一条"), ("export", "-"), ("doctor",))]
    assert {one.returncode for one in done} <= {0, 1, 3}
    assert not any(b"Traceback" in one.stdout + one.stderr for one in done)
    assert any(name in refused(one, 3) for one in done if one.returncode == 3)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["mood-state.json", ".moving.json", ".erase.json"])
def test_nor_one_in_the_place_of_what_the_program_keeps_for_itself(mind: Path, name: str) -> None:
    """What can be made anew is; what can't be read and tells what must go is refused by name."""
    (mind / name).unlink(missing_ok=True)
    os.mkfifo(mind / name)
    done = [nebula(mind, *argv) for argv in (("add", "又一条"), ("mood",), ("mood", "feel", "sad", ".5"), ("list",))]
    assert {one.returncode for one in done} == ({3} if name == ".erase.json" else {0})
    assert all(name in refused(one, 3) for one in done if one.returncode)


@pytest.mark.parametrize(
    "job",
    [
        {"at": 1, "uids": 5, "refs": None, "texts": [1]},
        {"at": "x", "uids": [], "refs": [], "texts": [None]},
        {"at": "x", "uids": [[1]], "refs": [{}], "texts": ["渡"], "digests": [[]]},
        {"at": "x", "uids": [], "refs": [], "texts": [], "words": "渡"},
        [1],
    ],
)
def test_an_erase_on_record_that_nothing_wrote_is_refused_by_name(mind: Path, job: object) -> None:
    """Values of a wrong type: exit 3 and the file's name, from the doctor too, and no report of a failure."""
    (mind / ".erase.json").write_text(json.dumps(job))
    for argv in (("list",), ("add", "又一条"), ("doctor", "--repair")):
        assert ".erase.json" in refused(nebula(mind, *argv), 3)
    assert b".erase.json" in nebula(mind, "doctor").stdout


@pytest.mark.parametrize(
    "line",
    [
        {"file": "notes.jsonl", "lines": 7, "why": {"a": 1}, "at": [1], "changed": 3},
        {"file": [1], "lines": "zz", "why": ["erase"], "hash": {}},
        {"why": "erase", "at": None, "changed": {"notes.jsonl": "x"}},
        {"why": "erase", "at": "x", "changed": {"notes.jsonl": True}},
    ],
)
def test_a_line_of_the_chain_that_nothing_wrote_is_named(mind: Path, line: object) -> None:
    """It breaks the chain where it stands, and nothing else."""
    nebula(mind, "doctor", "--verify")
    before = len((mind / "chain.jsonl").read_bytes().splitlines())
    with (mind / "chain.jsonl").open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")
    done = nebula(mind, "doctor", "--verify", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["data"]["broken"] == [before + 1]
    assert nebula(mind, "doctor", "--verify").returncode == 1


@pytest.mark.process
def test_full_disk_cuts_back_to_what_was(mind: Path) -> None:
    """A write that fits only in part: exit 3, the ledger byte for byte as before."""
    before = (mind / "notes.jsonl").read_bytes()
    text = "很长的一条" * 2000
    assert "notes.jsonl" in refused(limited(mind, len(before) + 100, "add", text), 3)
    assert (mind / "notes.jsonl").read_bytes() == before
    assert nebula(mind, "add", text).returncode == 0


@pytest.mark.process
def test_read_only_folder(mind: Path) -> None:
    """Reading works, writing is refused with the path, nothing changes."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a private mount namespace needs root and unshare")
    script = f'mount --bind "{mind}" "{mind}" && mount -o remount,ro,bind "{mind}" && exec "$@"'
    probe = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", "true"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip("mounting is not allowed here")

    def run(*argv: str) -> subprocess.CompletedProcess[bytes]:
        command = ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-m", "nebula", *argv]
        return subprocess.run(command, env=environment(mind), capture_output=True, check=False, timeout=120, input=b"")

    before = {path: path.read_bytes() for path in mind.rglob("*") if path.is_file()}
    found = run("recall", "渡轮", "--json")
    assert found.returncode == 0
    assert json.loads(found.stdout)["data"]["hits"][0]["text"] == "渡轮早上六点开"
    assert run("list").returncode == 0
    assert str(mind) in refused(run("add", "写不进去"), 3)
    assert {path: path.read_bytes() for path in mind.rglob("*") if path.is_file()} == before


@pytest.mark.process
@pytest.mark.parametrize("closed", [".", ".index", "notes.jsonl", "mind-config.json"])
def test_what_belongs_to_another_user_and_is_closed(mind: Path, closed: str) -> None:
    """Each command works without it, or refuses and says what could not be read; none is surprised."""
    assert nebula(mind, "config", "set", "recall.k", "12").returncode == 0
    nebula(mind, "recall", "渡轮")
    as_user = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all"]
    if sys.platform == "win32" or os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("to be another user needs root and setpriv")
    os.chown(mind / closed, 65534, 65534)
    (mind / closed).chmod(0o700 if (mind / closed).is_dir() else 0o600)
    probe = [*as_user, sys.executable, "-c", "import os, sys; os.stat(sys.argv[1] + '/x')", str(mind)]
    if closed == "." and b"Permission" not in subprocess.run(probe, check=False, capture_output=True).stderr:
        pytest.skip("rights can't be dropped here")
    for argv in (["list"], ["recall", "渡轮"], ["doctor"], ["add", "x"], ["consolidate"], ["erase", "n1", "--yes"]):
        command = [*as_user, sys.executable, "-m", "nebula", *argv]
        done = subprocess.run(command, env=environment(mind), capture_output=True, check=False, timeout=120, input=b"")
        said = (done.stdout + done.stderr).decode()
        assert done.returncode in {0, 1, 3}, (argv, said)
        assert "Traceback" not in said
        assert "意外" not in said, (argv, said)


def test_folder_that_can_not_be_made(tmp_path: Path) -> None:
    """A mind below a file: exit 3, one line."""
    (tmp_path / "file").write_text("x")
    assert "file" in refused(nebula(tmp_path / "file" / "mind", "add", "一条"), 3)


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_empty_text(mind: Path, text: str) -> None:
    """Nothing to remember is wrong usage, and nothing is written."""
    before = (mind / "notes.jsonl").read_bytes()
    refused(nebula(mind, "add", text), 2)
    refused(nebula(mind, "add", "-", given=text.encode()), 2)
    assert (mind / "notes.jsonl").read_bytes() == before


def test_wrong_values_are_named(mind: Path) -> None:
    """Each wrong value names its field; nothing is written."""
    before = (mind / "notes.jsonl").read_bytes()
    for name, value in (("imp", "2"), ("at", "yesterday-ish"), ("emo", "purple"), ("say", "loudly"), ("ledger", "no")):
        assert name in refused(nebula(mind, "add", "一条", f"--{name}", value), 2)
    assert (mind / "notes.jsonl").read_bytes() == before


def test_text_of_a_megabyte_is_found_by_its_end(mind: Path) -> None:
    """A text of 1 MB is stored whole, and found by words at its very end."""
    text = "今天的海面很平静，没有风。" * 27_000 + "最后一句说的是紫色的热气球。"
    assert len(text.encode()) > 1_000_000
    done = nebula(mind, "add", "-", given=text.encode())
    assert done.returncode == 0, done.stderr.decode()
    hits = json.loads(nebula(mind, "recall", "紫色的热气球", "--json").stdout)["data"]["hits"]
    assert hits[0]["text"] == text


def test_ten_thousand_results_asked(mind: Path) -> None:
    """Asking for more than there is gives what there is; beyond the limit is wrong usage."""
    assert len(json.loads(nebula(mind, "recall", "渡轮", "-n", "10000", "--json").stdout)["data"]["hits"]) == 1
    refused(nebula(mind, "recall", "渡轮", "-n", "0"), 2)


@pytest.mark.process
def test_bytes_that_are_no_utf8(mind: Path) -> None:
    """Invalid argument bytes are refused as such, nothing is stored."""
    before = (mind / "notes.jsonl").read_bytes()
    command = [sys.executable.encode(), b"-m", b"nebula", b"add", b"\xff\xfe"]
    done = subprocess.run(command, env=environment(mind), capture_output=True, check=False, timeout=60, input=b"")
    assert "UTF-8" in refused(done, 2)
    assert (mind / "notes.jsonl").read_bytes() == before
