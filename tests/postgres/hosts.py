"""Many hosts on one mind while clients are killed and the server goes down: is what was acknowledged there, once?

    python -m tests.postgres.hosts [--clients 16] [--minutes 10] [--kill-every 7.5]

Each client is a process with a home of its own, in a network namespace of its own where the machine allows (Linux, as
root, with `ip`), and adds and recalls as fast as it can. All the while one after another is killed (SIGKILL) and begun
again; after a third of the time the server is restarted, after two thirds it is killed and started. Then every line is
counted, and the mind is copied into a folder and held against it. Prints figures; exits 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from nebula import stores
from nebula.address import Address
from nebula.errors import NebulaError
from nebula.mind import Mind
from nebula.postgres import schema
from tests.postgres.conftest import PROGRAM, PROGRAMS_WORD, Server, programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[2]
#: Seconds that a client waits for the server to come back.
PATIENCE = 60.0
#: Adds to a recall.
ADDS = 4
WORDS = (
    *("渡轮", "灯塔", "码头", "潮水", "船票", "抽屉", "雾", "海鸥", "缆绳", "邮局"),
    *("钥匙", "面包", "台风", "信", "医生", "花园", "火车", "冬天", "妈妈", "画"),
)


# a client


def client(uri: str, name: str, seconds: float) -> None:
    """Add and recall until the time is over; a line on standard output for each thing done."""
    draw, until, known = random.Random(f"{name} {time.time_ns()}"), time.monotonic() + seconds, ""
    mind, number = None, 0
    while time.monotonic() < until:
        begun = time.monotonic()
        try:
            mind = mind or Mind(Address(uri), lock_timeout=PATIENCE)
            if number % (ADDS + 1) < ADDS or not known:
                text = f"{name}-{number}：{''.join(draw.sample(WORDS, 4))}"
                ref = mind.add(text).memories[0].ref
                known = text
                _say(added=text, ref=ref, ms=(time.monotonic() - begun) * 1000)
            else:
                hits = mind.recall(known, n=10, touch=False).hits
                found = any(hit.memory.text == known for hit in hits)
                _say(recalled=known, found=found, ms=(time.monotonic() - begun) * 1000)
        except NebulaError as error:
            _say(failed=error.message, ms=(time.monotonic() - begun) * 1000)
            time.sleep(0.1)
        number += 1


def _say(**said: object) -> None:
    sys.stdout.write(json.dumps(said, ensure_ascii=False) + "\n")
    sys.stdout.flush()


# networks


@contextlib.contextmanager
def networks(count: int) -> Iterator[tuple[str, list[list[str]]]]:
    """(the server's address, what goes before each client's command): a namespace each, or this machine's loopback."""
    ip = shutil.which("ip")
    tag = f"nb{os.getpid() % 10_000}"
    if (
        ip is None
        or os.geteuid() != 0
        or subprocess.run([ip, "netns", "add", tag], capture_output=True, check=False).returncode
    ):
        yield "127.0.0.1", [[] for _ in range(count)]
        return
    net = f"10.{os.getpid() % 200 + 20}.77"
    names = [f"{tag}-{number}" for number in range(count)]
    try:
        _ip("link", "add", tag, "type", "bridge")
        _ip("addr", "add", f"{net}.1/24", "dev", tag)
        _ip("link", "set", tag, "up")
        for number, name in enumerate(names):
            _ip("netns", "add", name)
            _ip("link", "add", f"{name}o", "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("link", "set", f"{name}o", "master", tag, "up")
            _ip("-n", name, "addr", "add", f"{net}.{number + 10}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
        yield f"{net}.1", [[ip, "netns", "exec", name] for name in names]
    finally:
        for what in (["link", "del", tag], *(["netns", "del", name] for name in (tag, *names))):
            subprocess.run([ip, *what], capture_output=True, check=False)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


# the run


@dataclass
class Host:
    """A client over its lives: what it said."""

    number: int
    before: Sequence[str]
    home: Path
    lives: int = 0
    process: subprocess.Popen[bytes] | None = None
    added: list[str] = field(default_factory=list)
    milliseconds: dict[str, list[float]] = field(default_factory=lambda: {"added": [], "recalled": []})
    missed: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def begin(self, uri: str, seconds: float) -> None:
        """Start it, once more after a kill; its home stays."""
        own = {"HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / "cache"), "PYTHONPATH": str(ROOT)}
        env = {**os.environ, **own, "OPENBLAS_NUM_THREADS": "1", "NEBULA_LANG": "en"}
        words = ["-m", "tests.postgres.hosts", "--as", f"{self.number}.{self.lives}", "--uri", uri]
        command = [*self.before, sys.executable, *words, "--seconds", str(seconds)]
        self.lives += 1
        self.process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.threads.append(threading.Thread(target=self._listen, args=[self.process]))
        self.threads[-1].start()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            for line in process.stdout:
                if line.endswith(b"\n"):  # a kill may cut the last one: then nobody was told
                    self._hear(json.loads(line))
            error = process.stderr.read().decode("utf-8", "replace")
        if process.returncode not in (0, -9):
            self.errors.append(f"{process.returncode}: {error[-500:]}")

    def _hear(self, said: dict[str, Any]) -> None:
        if "added" in said:
            self.added.append(said["added"])
        if "recalled" in said and not said["found"]:
            self.missed.append(said["recalled"])
        if "failed" in said:
            self.failures.append(said["failed"])
        for kind in self.milliseconds:
            if kind in said:
                self.milliseconds[kind].append(said["ms"])


@dataclass(frozen=True)
class Outcome:
    """What came of it; `faults` are what should not be."""

    figures: dict[str, object]
    faults: list[str]


def run(folder: Path, clients: int, seconds: float, kill_every: float, seed: int = 1) -> Outcome:
    """The whole run, in a folder for everything."""
    found = programs()
    assert found is not None, "PostgreSQL's server is not installed"
    with networks(clients) as (address, befores):
        server = Server(folder / "server", found, listen=address, fsync=True)
        server.folder.mkdir()
        server.make()
        server.start()
        try:
            server.do(f"CREATE ROLE {PROGRAM} LOGIN PASSWORD '{PROGRAMS_WORD.replace('%40', '@')}'")
            schema.migrate(Address(server.uri(server.database())), 10.0, PROGRAM)
            uri = server.uri("mind0", PROGRAM, PROGRAMS_WORD).replace("127.0.0.1", address)
            hosts = [Host(n, before, folder / f"home{n}") for n, before in enumerate(befores)]
            kills, downs = _attacked(server, hosts, uri, seconds, kill_every, random.Random(seed))
            figures, faults = _counted(uri, hosts, folder, seconds)
        finally:
            server.stop()
    apart = "a network namespace each" if befores[0] else "one network"
    return Outcome({"clients": f"{clients}, {apart}", "kills": kills, "seconds down": downs, **figures}, faults)


def _attacked(
    server: Server, hosts: Sequence[Host], uri: str, seconds: float, kill_every: float, draw: random.Random
) -> tuple[int, list[float]]:
    """Kill clients, restart and kill the server; -> kills of clients, how long the server was away each time."""
    begun = time.monotonic()
    for host in hosts:
        host.home.mkdir()
        host.begin(uri, seconds)
    events = sorted([(seconds / 3, False), (seconds * 2 / 3, True)])
    kills, downs, next_kill = 0, [], begun + kill_every
    while (now := time.monotonic()) < begun + seconds:
        if events and now >= begun + events[0][0]:
            server.stop(kill=events.pop(0)[1])
            time.sleep(min(2.0, seconds / 20))
            server.start()
            downs.append(round(time.monotonic() - now, 1))
        elif now >= next_kill:
            host = draw.choice(hosts)
            assert host.process is not None
            host.process.kill()
            host.threads[-1].join()
            host.begin(uri, max(1.0, begun + seconds - time.monotonic()))
            kills, next_kill = kills + 1, next_kill + kill_every
        time.sleep(0.05)
    for host in hosts:
        for thread in host.threads:
            thread.join(PATIENCE * 3)
    return kills, downs


def _counted(uri: str, hosts: Sequence[Host], folder: Path, seconds: float) -> tuple[dict[str, object], list[str]]:
    os.environ["XDG_CACHE_HOME"] = str(folder / "fresh")
    there = Mind(Address(uri), lock_timeout=PATIENCE)
    reading = there.store.read("notes")
    texts = [memory.text for memory in reading.memories]
    acknowledged = [text for host in hosts for text in host.added]
    missed = [text for host in hosts for text in host.missed]
    faults = [f"acknowledged and not there: {text}" for text in set(acknowledged) - set(texts)]
    faults += (
        [f"there twice: {text}" for text in {text for text in texts if texts.count(text) > 1}]
        if len(set(texts)) < len(texts)
        else []
    )
    if [memory.id for memory in reading.memories] != list(range(1, len(texts) + 1)):
        faults.append("ids have gaps or come twice")
    faults += [f"damaged: line {damage.line}" for damage in reading.damages]
    faults += [f"client {host.number} ended with {error}" for host in hosts for error in host.errors]
    faults += [f"not recalled by its writer: {text}" for text in missed]
    here = Mind(folder / "copy")
    stores.copy(there, here)
    compared = stores.compare(here, there, 50)
    faults += [] if compared.equal else [f"the copy differs: {compared}"]
    times = {kind: sorted(ms for host in hosts for ms in host.milliseconds[kind]) for kind in ("added", "recalled")}
    said = {
        kind: f"{len(ms)}, p50 {median(ms):.0f} ms, p95 {quantiles(ms, n=20)[-1]:.0f} ms, longest {ms[-1] / 1000:.1f} s"
        for kind, ms in times.items()
    }
    return {
        **said,
        "acknowledged a second": round(len(acknowledged) / seconds, 1),
        "in the database": len(texts),
        "not acknowledged and there": len(texts) - len(set(acknowledged)),
        "lost": len(set(acknowledged) - set(texts)),
        "twice": len(texts) - len(set(texts)),
        "not recalled by its writer": len(missed),
        "commands refused": sum(len(host.failures) for host in hosts),
        "refusals": sorted({message for host in hosts for message in host.failures})[:3],
        "recalls alike in a copied folder": f"{compared.same} of {compared.samples}",
    }, faults


def main() -> int:
    """The run, or one of its clients."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--kill-every", type=float, default=7.5, metavar="SECONDS")
    parser.add_argument("--as", dest="name", help=argparse.SUPPRESS)
    parser.add_argument("--uri", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.name:
        client(asked.uri, asked.name, asked.seconds)
        return 0
    with tempfile.TemporaryDirectory(prefix="nebula-hosts-") as folder:
        Path(folder).chmod(0o755)  # the server is another user's
        done = run(Path(folder), asked.clients, asked.minutes * 60, asked.kill_every)
    for name, value in done.figures.items():
        sys.stdout.write(f"{name}: {value}\n")
    for fault in done.faults[:20]:
        sys.stdout.write(f"FAULT {fault}\n")
    return 1 if done.faults else 0


if __name__ == "__main__":
    sys.exit(main())
