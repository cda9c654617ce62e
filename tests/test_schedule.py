"""The nightly run in cron, launchd and schtasks, each played by a fake: figures of spec 9, and what must stay."""

from __future__ import annotations

import os
import plistlib
import re
import subprocess
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from nebula import schedule
from nebula.errors import BadValue, NotSetUp, SchedulerFailed, WriteFailed
from nebula.schedule import Job
from nebula.schedule.cron import preview as cron_lines
from nebula.schedule.launchd import plist, plist_path
from nebula.schedule.schtasks import document

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    Answer = tuple[int, bytes, bytes]

FOREIGN = "MAILTO=me@example.org\n# 每天备份\n0 3 * * *\tbackup  --all \n\n@daily x # y\n".encode()
OLD_LINE = "0 22 * * * python3 /opt/鱼/夜间沉淀.py >> /tmp/log"
NAMES = ["mind", "我的 心", 'it\'s "mine"', "100%", "a\\%b", "$HOME `x` ;#", "100%%\\"]


@dataclass
class Cron:
    """`crontab`: a table, or none."""

    table: bytes | None = None
    none: Answer = (1, b"", b"no crontab for me\n")
    writing: Answer = (0, b"", b"")
    heading: bytes = b""
    forgets: bool = False
    written: list[bytes] = field(default_factory=list)

    def __call__(self, words: Sequence[str], given: bytes) -> Answer:
        if list(words) == ["crontab", "-l"]:
            return self.none if self.table is None else (0, self.heading + self.table, b"")
        assert list(words) == ["crontab", "-"]
        self.written.append(given)
        if self.writing[0] == 0 and not self.forgets:
            self.table = given
        return self.writing


@dataclass
class Launchd:
    """`launchctl`: what is loaded; `refusals` are the exit codes of the next bootstraps. And a `crontab`."""

    loaded: set[str] = field(default_factory=set)
    refusals: list[int] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    cron: Cron = field(default_factory=Cron)

    def __call__(self, words: Sequence[str], given: bytes) -> Answer:
        if words[0] == "crontab":
            return self.cron(words, given)
        verb, domain = words[1], f"gui/{os.getuid()}"
        self.calls.append(verb)
        if verb == "bootstrap":
            assert words[2] == domain
            if self.refusals:
                return self.refusals.pop(0), b"", b"Bootstrap failed: 5: Input/output error\n"
            self.loaded.add(os.path.basename(words[3]).removesuffix(".plist"))  # noqa: PTH119
            return 0, b"", b""
        assert words[2].startswith(f"{domain}/")
        label = words[2].removeprefix(f"{domain}/")
        if label not in self.loaded:
            return 113 if verb == "print" else 3, b"", b"Could not find service\n"
        if verb == "bootout":
            self.loaded.remove(label)
        return 0, b"", b""


@dataclass
class Schtasks:
    """`schtasks`: documents by name, answered in UTF-16 or a code page."""

    tasks: dict[str, str] = field(default_factory=dict)
    encoding: str = "gbk"
    refuses: bool = False

    def __call__(self, words: Sequence[str], given: bytes) -> Answer:
        name = words[words.index("/TN") + 1]
        if words[1] == "/Create":
            if self.refuses:
                return 1, b"", b"ERROR: Access is denied.\r\n"
            with open(words[words.index("/XML") + 1], "rb") as file:  # noqa: PTH123
                data = file.read()
            assert data[:2] in {b"\xff\xfe", b"\xfe\xff"}
            assert "/F" in words
            self.tasks[name] = data.decode("utf-16")
            return 0, b"", b""
        if name not in self.tasks:
            return 1, b"", b"ERROR: The system cannot find the file specified.\r\n"
        if words[1] == "/Delete":
            assert "/F" in words  # else it asks
            del self.tasks[name]
            return 0, b"", b""
        assert words[1:3] == ["/Query", "/XML"]
        return 0, self.tasks[name].encode(self.encoding, "replace"), b""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path / "mind", "22:05", "/usr/bin/python3", home=tmp_path / "home")


def other(job: Job) -> Job:
    return replace(job, folder=job.folder.with_name("second"))


def as_cron_reads(line: str) -> str:
    """The command that cron gives to the shell: an unescaped % ends it, a backslash before one goes (cronie)."""
    command = line.split(" ", 1)[1] if line.startswith("@") else line.split(" ", 5)[5]
    read, escaped = "", False
    for character in command:
        if escaped:
            read = read[:-1] + "%" if character == "%" else read + character
            escaped = False
            continue
        if character == "%":
            break
        escaped = character == "\\"
        read += character
    return read


# the run itself


@pytest.mark.parametrize(
    ("platform", "system"), [("linux", "cron"), ("darwin", "launchd"), ("win32", "schtasks"), ("freebsd14", "cron")]
)
def test_each_platform_has_its_scheduler(platform: str, system: str) -> None:
    assert schedule.system_of(platform) == system
    assert system in schedule.SYSTEMS


def test_a_link_to_a_mind_is_the_same_mind(job: Job) -> None:
    """Else one mind would have two entries, and every night would run twice."""
    job.folder.mkdir()
    link = job.folder.with_name("link")
    link.symlink_to(job.folder)
    assert replace(job, folder=link).mark == job.mark
    assert replace(job, folder=job.folder / ".." / "mind").mark == job.mark
    assert replace(job, at="03:00", python="/else").mark == job.mark
    assert other(job).mark != job.mark


@pytest.mark.parametrize("system", schedule.SYSTEMS)
@pytest.mark.parametrize("act", [schedule.preview, schedule.status, schedule.install, schedule.remove])
def test_unknown_scheduler_and_impossible_folder_are_refused(job: Job, system: str, act: object) -> None:
    """Nothing is run and nothing is written."""
    assert callable(act)
    with pytest.raises(BadValue, match="systemd"):
        act(job, "systemd")
    with pytest.raises(BadValue):
        act(replace(job, folder=job.folder / "a\nb"), system)
    assert not job.folder.exists()


@pytest.mark.parametrize("system", ["launchd", "schtasks"])
def test_a_document_holds_unicode_alone(job: Job, system: str) -> None:
    with pytest.raises(BadValue):
        schedule.preview(replace(job, folder=job.folder / "\udcff"), system)


# cron


def test_the_two_lines(job: Job) -> None:
    """22:05 is `5 22 * * *` (spec 9); the second makes up at boot for what was missed."""
    settings = "LANG=C.UTF-8 PYTHONUTF8=1 NEBULA_LANG=zh"
    run = f"{settings} /usr/bin/python3 -P -m nebula consolidate --mind {job.folder}"
    log = f">> {job.folder}/consolidate.log 2>&1 # nebula-mind {job.digest}"
    assert cron_lines(job) == [f"5 22 * * * {run} {log}", f"@reboot sleep 120; {run} --if-missed {log}"]
    assert schedule.preview(job, "cron") == cron_lines(job)
    assert re.fullmatch(r"[0-9a-f]{12}", job.digest)


@pytest.mark.parametrize(
    ("at", "begins"), [("00:00", "0 0 * * * "), ("23:59", "59 23 * * * "), ("09:08", "8 9 * * * ")]
)
def test_times(job: Job, at: str, begins: str) -> None:
    assert cron_lines(replace(job, at=at))[0].startswith(begins)


@pytest.mark.process
@pytest.mark.parametrize("name", [*NAMES, os.fsdecode(b"not\xffutf-8")])
@pytest.mark.parametrize("which", [0, 1])
def test_any_folder_arrives_as_it_is(tmp_path: Path, name: str, which: int) -> None:
    """Spaces, quotes, percent signs, backslashes: read by cron's rules and run by /bin/sh, the words are exact."""
    folder = tmp_path / name
    folder.mkdir()
    told = tmp_path / "python told"
    told.write_text('#!/bin/sh\nprintf "%s\\n" "$LANG" "$PYTHONUTF8" "$NEBULA_LANG" "$@"\necho bad >&2\n')
    told.chmod(0o755)
    job = Job(folder, "22:05", str(told), language="en")
    command = as_cron_reads(cron_lines(job)[which]).replace("sleep 120; ", "")
    subprocess.run(["/bin/sh", "-c", command], env={}, check=True, cwd="/", timeout=60)
    words = ["C.UTF-8", "1", "en", "-P", "-m", "nebula", "consolidate", "--mind", str(folder), *["--if-missed"][:which]]
    assert (folder / "consolidate.log").read_bytes() == b"".join(os.fsencode(word) + b"\n" for word in [*words, "bad"])


TABLES = [
    None,
    b"",
    FOREIGN,
    FOREIGN.rstrip(b"\n"),
    FOREIGN.replace(b"\n", b"\r\n"),
    b"\n\n",
    b"0 1 * * * echo \xff\xfe latin\n",
    "0 1 * * * echo a\u2028b\x0bc\x85d\n".encode(),
    b"".join(b"%d 4 * * * job-%d\n" % (n % 60, n) for n in range(1000)),
]


@pytest.mark.parametrize("table", TABLES)
def test_install_and_remove_leave_all_else_byte_for_byte(job: Job, table: bytes | None) -> None:
    """No crontab, an empty one, one without a final newline, other encodings, a thousand lines of others."""
    cron = Cron(table)
    done = schedule.install(job, "cron", cron)
    lines = cron_lines(job)
    assert cron.table == "".join(f"{line}\n" for line in lines).encode() + (table or b"")
    assert (done.system, done.entries, done.at, done.old, done.removed) == ("cron", lines, "22:05", [], [])
    assert schedule.status(job, "cron", cron).entries == lines
    left = schedule.remove(job, "cron", cron)
    assert cron.table == (table or b"")
    assert (left.entries, left.at, left.removed) == ([], "", lines)


def test_twice_is_once(job: Job) -> None:
    """The second time nothing is written at all."""
    cron = Cron(FOREIGN)
    schedule.install(job, "cron", cron)
    assert schedule.install(job, "cron", cron).removed == []
    assert len(cron.written) == 1


def test_a_new_time_takes_the_old_one_s_place(job: Job) -> None:
    cron = Cron(FOREIGN)
    schedule.install(job, "cron", cron)
    assert cron.table is not None
    cron.table = b"# first\n" + cron.table  # a person moved it
    done = schedule.install(replace(job, at="03:30"), "cron", cron)
    lines = cron_lines(replace(job, at="03:30"))
    assert cron.table == b"# first\n" + "".join(f"{line}\n" for line in lines).encode() + FOREIGN
    assert (done.at, done.removed) == ("03:30", cron_lines(job)[:1])


def test_each_mind_has_its_own_lines(job: Job) -> None:
    cron = Cron(FOREIGN)
    schedule.install(job, "cron", cron)
    schedule.install(other(job), "cron", cron)
    assert schedule.status(job, "cron", cron).entries == cron_lines(job)
    schedule.remove(job, "cron", cron)
    assert schedule.status(other(job), "cron", cron).entries == cron_lines(other(job))
    assert schedule.status(job, "cron", cron).entries == []
    schedule.remove(other(job), "cron", cron)
    assert cron.table == FOREIGN


def test_removing_what_is_not_there_writes_nothing(job: Job) -> None:
    cron = Cron(FOREIGN)
    assert schedule.remove(job, "cron", cron).removed == []
    assert cron.written == []
    assert not job.folder.exists()


def test_a_line_that_a_person_switched_off_or_quotes_is_theirs(job: Job) -> None:
    """Only a line that ends in the mark and runs is ours."""
    theirs = f"# {cron_lines(job)[0]}\n1 2 * * * echo '# {job.mark}' done\n".encode()
    cron = Cron(theirs)
    assert schedule.status(job, "cron", cron).entries == []
    schedule.install(job, "cron", cron)
    schedule.remove(job, "cron", cron)
    assert cron.table == theirs


def test_a_time_that_a_person_wrote_is_shown_where_it_is_one(job: Job) -> None:
    nightly = cron_lines(job)[0]
    assert schedule.status(job, "cron", Cron(nightly.replace("5 22", "7 3").encode())).at == "03:07"
    found = schedule.status(job, "cron", Cron(nightly.replace("5 22", "*/5 22").encode()))
    assert (found.at, len(found.entries)) == ("", 1)


@pytest.mark.parametrize("encoding", ["utf-8", "gbk"])
def test_an_old_line_is_named_and_goes_only_when_asked_for(job: Job, encoding: str) -> None:
    """Both would run every night (spec 9)."""
    line = OLD_LINE.encode(encoding)
    shown = line.decode("utf-8", "surrogateescape")
    switched_off = b"#" + line + b"\n"
    cron = Cron(switched_off + line + b"\n" + FOREIGN)
    done = schedule.install(job, "cron", cron)
    assert (done.old, done.removed) == ([shown], [])
    assert line in (cron.table or b"").split(b"\n")
    done = schedule.install(job, "cron", cron, remove_old=True)
    assert (done.old, done.removed, done.entries) == ([], [shown], cron_lines(job))
    schedule.remove(job, "cron", cron)
    assert cron.table == switched_off + FOREIGN


def test_an_old_line_goes_whole(job: Job) -> None:
    """Cron ends a line at a newline alone; half a line left behind would be another command."""
    cron = Cron(f"{OLD_LINE}\r1 1 * * * rest\x0bof\x85it\u2028end\n".encode() + FOREIGN)
    schedule.install(job, "cron", cron, remove_old=True)
    schedule.remove(job, "cron", cron)
    assert cron.table == FOREIGN


def test_a_folder_that_is_no_unicode_in_the_table(job: Job) -> None:
    """A folder's name may be any bytes; they stand in the table as they are."""
    cron, job = Cron(), replace(job, folder=job.folder.with_name(os.fsdecode(b"\xff\xfe")))
    assert schedule.install(job, "cron", cron).entries == cron_lines(job)
    assert b"/\xff\xfe'" in (cron.table or b"")


def test_our_own_line_is_never_an_old_one(job: Job) -> None:
    job = replace(job, folder=job.folder.with_name("夜间沉淀.py"))
    cron = Cron()
    assert schedule.install(job, "cron", cron, remove_old=True).old == []
    assert schedule.status(other(job), "cron", cron).old == []


UNREADABLE: list[tuple[int, bytes]] = [
    (1, b"You (me) are not allowed to use this program (crontab)\n"),
    (1, b"crontab: can't open your crontab: Permission denied\n"),
    (1, b""),
    (2, b"no crontab for me\n"),
]


@pytest.mark.parametrize(("code", "said"), UNREADABLE)
def test_a_table_that_cannot_be_read_is_not_written_over(job: Job, code: int, said: bytes) -> None:
    cron = Cron(none=(code, b"", said))
    for act in (schedule.install, schedule.remove, schedule.status):
        with pytest.raises(SchedulerFailed, match="crontab -l"):
            act(job, "cron", cron)
    assert cron.written == []
    assert not job.folder.exists()


@pytest.mark.parametrize(
    "said",
    [b"no crontab for me\n", b"crontab: no crontab for me", b"crontab: can't open 'me': No such file or directory\n"],
)
def test_no_table_is_an_empty_one(job: Job, said: bytes) -> None:
    """As Vixie, macOS and busybox say it."""
    cron = Cron(none=(1, b"", said))
    assert schedule.install(job, "cron", cron).entries == cron_lines(job)


def test_a_refused_table_is_told_with_its_reason(job: Job) -> None:
    cron = Cron(FOREIGN, writing=(1, b"", b'"-":1: bad minute\nerrors in crontab file\n'))
    with pytest.raises(SchedulerFailed, match="bad minute errors in crontab file"):
        schedule.install(job, "cron", cron)
    assert cron.table == FOREIGN


def test_a_table_that_did_not_arrive_is_noticed(job: Job) -> None:
    """Read back and compared; a heading that a system adds is none of ours."""
    with pytest.raises(SchedulerFailed):
        schedule.install(job, "cron", Cron(FOREIGN, forgets=True))
    assert schedule.install(job, "cron", Cron(FOREIGN, heading=b"# DO NOT EDIT\n")).entries


def test_no_scheduler_is_a_matter_of_set_up(job: Job) -> None:
    """Not installed, or not answering: exit 4, with its name and the way round."""

    def missing(words: Sequence[str], given: bytes) -> Answer:
        raise FileNotFoundError(2, "No such file or directory", words[0])

    def stuck(words: Sequence[str], given: bytes) -> Answer:
        raise subprocess.TimeoutExpired(list(words), 60)

    for runner in (missing, stuck):
        with pytest.raises(SchedulerFailed, match=r"crontab .*--print") as caught:
            schedule.install(job, "cron", runner)
        assert isinstance(caught.value, NotSetUp)
        assert caught.value.exit_code == 4
    assert not job.folder.exists()


@pytest.mark.process
def test_the_true_runner() -> None:
    """Bytes in and out, the code kept; a program that is not there raises."""
    script = "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d); sys.stderr.write('e'); sys.exit(3)"
    assert schedule.run([sys.executable, "-c", script], b"\xff\n") == (3, b"\xff\n", b"e")
    with pytest.raises(FileNotFoundError):
        schedule.run(["no-such-program-of-ours"], b"")


# launchd


def test_the_agent(job: Job) -> None:
    """22:05, also at login; both only where the night is still to be done."""
    (text,) = schedule.preview(job, "launchd")
    assert plistlib.loads(text.encode()) == {
        "Label": f"nebula-mind.{job.digest}",
        "ProgramArguments": [
            "/usr/bin/python3", "-P", "-m", "nebula", "consolidate", "--mind", str(job.folder), "--if-missed",
        ],
        "EnvironmentVariables": {"LANG": "C.UTF-8", "PYTHONUTF8": "1", "NEBULA_LANG": "zh"},
        "StartCalendarInterval": {"Hour": 22, "Minute": 5},
        "RunAtLoad": True,
        "StandardOutPath": f"{job.folder}/consolidate.log",
        "StandardErrorPath": f"{job.folder}/consolidate.log",
    }  # fmt: skip
    assert plist_path(job) == job.home / f"Library/LaunchAgents/nebula-mind.{job.digest}.plist"


@pytest.mark.parametrize("name", NAMES)
def test_any_folder_in_the_agent(job: Job, name: str) -> None:
    job = replace(job, folder=job.folder / name)
    assert plistlib.loads(plist(job))["ProgramArguments"][6] == str(job.folder)


def test_agent_installed_twice_changed_and_removed(job: Job) -> None:
    launchd, path = Launchd(), plist_path(job)
    done = schedule.install(job, "launchd", launchd)
    assert (done.entries, done.at, done.old) == ([str(path)], "22:05", [])
    assert launchd.loaded == {path.stem}
    assert path.read_bytes() == plist(job)
    launchd.calls.clear()
    schedule.install(job, "launchd", launchd)
    assert launchd.calls == ["print"]
    assert schedule.install(replace(job, at="03:30"), "launchd", launchd).at == "03:30"
    assert launchd.calls[-2:] == ["bootout", "bootstrap"]
    schedule.install(other(job), "launchd", launchd)
    left = schedule.remove(job, "launchd", launchd)
    assert (left.entries, left.removed) == ([], [str(path)])
    assert launchd.loaded == {plist_path(other(job)).stem}
    assert not path.exists()
    assert schedule.remove(job, "launchd", launchd).removed == []


def test_an_agent_that_is_there_but_not_loaded_is_loaded(job: Job) -> None:
    launchd = Launchd()
    schedule.install(job, "launchd", launchd)
    launchd.loaded.clear()
    schedule.install(job, "launchd", launchd)
    assert launchd.loaded == {plist_path(job).stem}


@pytest.mark.parametrize("code", [5, 37])
def test_launchd_that_has_not_let_go_yet_is_asked_again(job: Job, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`bootout` returns early; the next `bootstrap` then answers 5 or 37."""
    monkeypatch.setattr("nebula.schedule.launchd.PAUSES", (0.0, 0.0))
    launchd = Launchd(refusals=[code, code])
    assert schedule.install(job, "launchd", launchd).entries
    assert launchd.calls.count("bootstrap") == 3


@pytest.mark.parametrize("refusals", [[5] * 9, [125]])
def test_an_agent_that_cannot_be_loaded_leaves_what_was(
    job: Job, refusals: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a session there is no domain to load into; status must not call it installed."""
    monkeypatch.setattr("nebula.schedule.launchd.PAUSES", (0.0, 0.0))
    with pytest.raises(SchedulerFailed, match="launchctl bootstrap"):
        schedule.install(job, "launchd", Launchd(refusals=list(refusals)))
    assert not plist_path(job).exists()
    launchd = Launchd()
    schedule.install(job, "launchd", launchd)
    launchd.refusals = list(refusals)
    with pytest.raises(SchedulerFailed):
        schedule.install(replace(job, at="03:30"), "launchd", launchd)
    assert schedule.status(job, "launchd", launchd).at == "22:05"


def test_an_old_cron_line_beside_launchd(job: Job) -> None:
    launchd = Launchd(cron=Cron(f"{OLD_LINE}\n".encode() + FOREIGN))
    assert schedule.install(job, "launchd", launchd).old == [OLD_LINE]
    done = schedule.install(job, "launchd", launchd, remove_old=True)
    assert (done.old, done.removed) == ([], [OLD_LINE])
    assert launchd.cron.table == FOREIGN


def test_launchd_needs_no_cron(job: Job) -> None:
    launchd = Launchd(cron=Cron(none=(1, b"", b"not allowed")))
    assert schedule.install(job, "launchd", launchd, remove_old=True).entries
    assert launchd.cron.written == []


@pytest.mark.parametrize("text", [b"", b"<plist>", plistlib.dumps({"Label": "x"}), plistlib.dumps([])])
def test_an_agent_that_a_person_rewrote_has_no_time(job: Job, text: bytes) -> None:
    path = plist_path(job)
    path.parent.mkdir(parents=True)
    path.write_bytes(text)
    found = schedule.status(job, "launchd", Launchd())
    assert (found.entries, found.at) == ([str(path)], "")


def test_a_file_that_cannot_be_deleted_is_told(job: Job) -> None:
    path = plist_path(job)
    path.mkdir(parents=True)
    with pytest.raises(WriteFailed):
        schedule.remove(job, "launchd", Launchd())


# schtasks

NAMESPACE = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}


def told(text: str, path: str) -> str | None:
    """What an element of a task's document holds."""
    root = ET.fromstring(text.split("?>", 1)[1])
    return root.findtext("/".join(f"t:{part}" for part in path.split("/")), namespaces=NAMESPACE)


def test_the_task(job: Job) -> None:
    """22:05 daily, made up for when missed, on batteries too, one at a time, as the user and no more."""
    (text,) = schedule.preview(job, "schtasks")
    assert text.startswith('<?xml version="1.0" encoding="UTF-16"?>\n')
    assert told(text, "RegistrationInfo/URI") == "\\Nebula MIND 夜间巩固"
    assert told(text, "RegistrationInfo/Description") == job.mark
    assert (told(text, "Triggers/CalendarTrigger/StartBoundary") or "").endswith("T22:05:00")
    assert told(text, "Triggers/CalendarTrigger/ScheduleByDay/DaysInterval") == "1"
    assert told(text, "Settings/StartWhenAvailable") == "true"
    assert told(text, "Settings/DisallowStartIfOnBatteries") == "false"
    assert told(text, "Settings/StopIfGoingOnBatteries") == "false"
    assert told(text, "Settings/MultipleInstancesPolicy") == "IgnoreNew"
    assert told(text, "Principals/Principal/LogonType") == "InteractiveToken"
    assert told(text, "Actions/Exec/Command") == "/usr/bin/python3"
    assert told(text, "Actions/Exec/Arguments") == (
        f"-X utf8 -P -m nebula consolidate --mind {job.folder} --if-missed --log {job.folder}/consolidate.log"
    )


def windows_words(line: str) -> list[str]:
    """A command line as CommandLineToArgvW cuts it, for words without quotes or final backslashes inside quotes."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line)]


@pytest.mark.parametrize("name", ["A & B <C>", "我的 心", "R&D", "it's"])
def test_any_folder_in_the_task(job: Job, name: str) -> None:
    job = replace(job, folder=job.folder / name)
    words = windows_words(told(document(job), "Actions/Exec/Arguments") or "")
    assert words[words.index("--mind") + 1] == str(job.folder)
    assert words[words.index("--log") + 1] == f"{job.folder}/consolidate.log"


@pytest.mark.parametrize("name", ["python.exe", "Python.exe"])
def test_no_window_where_pythonw_lies_beside(job: Job, tmp_path: Path, name: str) -> None:
    """And the interpreter itself where it does not: a window is better than no night."""
    job = replace(job, python=str(tmp_path / name))
    assert told(document(job), "Actions/Exec/Command") == str(tmp_path / name)
    (tmp_path / "pythonw.exe").touch()
    (tmp_path / "mypythonw.exe").touch()
    assert told(document(job), "Actions/Exec/Command") == str(tmp_path / "pythonw.exe")
    job = replace(job, python=str(tmp_path / "mypython.exe"))
    assert told(document(job), "Actions/Exec/Command") == str(tmp_path / "mypython.exe")


@pytest.mark.parametrize("encoding", ["gbk", "utf-8", "cp437", "utf-16"])
def test_task_installed_twice_changed_and_removed(job: Job, encoding: str) -> None:
    """Whatever the code page that schtasks answers in."""
    schtasks = Schtasks(encoding=encoding)
    done = schedule.install(job, "schtasks", schtasks)
    assert (done.entries, done.at, done.old) == (["Nebula MIND 夜间巩固"], "22:05", [])
    assert not list(job.folder.iterdir())
    schedule.install(job, "schtasks", schtasks)
    assert schedule.install(replace(job, at="03:30"), "schtasks", schtasks).at == "03:30"
    assert list(schtasks.tasks) == ["Nebula MIND 夜间巩固"]
    assert schedule.remove(job, "schtasks", schtasks).removed == ["Nebula MIND 夜间巩固"]
    assert schtasks.tasks == {}
    assert schedule.remove(job, "schtasks", schtasks).removed == []


def test_each_mind_has_its_own_task(job: Job) -> None:
    """The first has the plain name, and keeps it; neither is taken for old, neither removes the other's."""
    schtasks = Schtasks()
    schedule.install(job, "schtasks", schtasks)
    named = f"Nebula MIND 夜间巩固 {other(job).digest}"
    done = schedule.install(other(job), "schtasks", schtasks, remove_old=True)
    assert (done.entries, done.old) == ([named], [])
    assert told(schtasks.tasks[named], "RegistrationInfo/URI") == f"\\{named}"
    schedule.remove(job, "schtasks", schtasks)
    assert schedule.install(other(job), "schtasks", schtasks).entries == [named]
    assert list(schtasks.tasks) == [named]


@pytest.mark.parametrize("name", ["小鱼夜间沉淀", "Nebula MIND 夜间巩固"])
def test_an_old_task_is_named_and_goes_only_when_asked_for(job: Job, name: str) -> None:
    """A task of the original, under its early name or its later one, which is ours too (spec 9)."""
    schtasks = Schtasks({name: "<Task>夜间沉淀.py</Task>"})
    done = schedule.install(job, "schtasks", schtasks)
    assert (done.old, done.removed) == ([name], [])
    assert schtasks.tasks[name] == "<Task>夜间沉淀.py</Task>"
    assert schedule.remove(job, "schtasks", schtasks).old == [name]
    done = schedule.install(job, "schtasks", schtasks, remove_old=True)
    assert (done.old, done.removed) == ([], [name])
    assert list(schtasks.tasks) == done.entries


def test_a_refused_task_is_told_and_leaves_no_file(job: Job) -> None:
    with pytest.raises(SchedulerFailed, match="Access is denied"):
        schedule.install(job, "schtasks", Schtasks(refuses=True))
    assert not list(job.folder.iterdir())
