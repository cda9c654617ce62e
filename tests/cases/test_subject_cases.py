"""How tools like ours failed their users (S11–S13), told again as tests of this one."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from nebula.cli import main
from tests.cases.test_cases import nebula
from tests.embedding_server import serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.embedding_server import Serving


@pytest.fixture
def mind(tmp_path: Path) -> Path:
    return tmp_path / "mind"


def set_up(mind: Path, url: str, dims: int) -> None:
    words = ("--url", url, "--model", "m", "--dims", str(dims))
    assert nebula(mind, "subject", "endpoint", "set", *words).returncode == 0


def lived(mind: Path, project: Path, subject: str) -> tuple[str, ...]:
    where = ("--project", str(project))
    assert nebula(mind, "subject", "init", subject, *where).returncode == 0
    for text in ("渡轮早上六点开", "灯塔的灯灭了三天"):
        assert nebula(mind, "subject", "event", subject, text, *where).returncode == 0
    return where


@pytest.mark.process
@pytest.mark.parametrize(
    ("path", "called"),
    [
        ("/v1", "/v1/embeddings"),
        ("/v1/", "/v1/embeddings"),
        ("/v1/embeddings", "/v1/embeddings"),
        ("/v1/embeddings/", "/v1/embeddings"),
        ("/api/v3", "/api/v3/embeddings"),
        ("", "/v1/embeddings"),
    ],
)
def test_s11_the_address_in_five_usual_ways(mind: Path, tmp_path: Path, path: str, called: str) -> None:
    with serving("good", tmp_path) as server:
        set_up(mind, f"{server.url}{path}", 64)
        where = lived(mind, tmp_path / "p", "a")
        done = nebula(mind, "subject", "search", "a", "灯塔的灯", *where, NEBULA_EMBED_KEY="sk-test")
        assert done.returncode == 0, done.stderr.decode()
        assert "灯塔" in done.stdout.decode()
        assert {asked["path"] for asked in server.asked} == {called}


@pytest.mark.process
def test_s12_a_server_that_takes_no_size_and_one_of_another_size(mind: Path, tmp_path: Path) -> None:
    def search(server: Serving, subject: str, dims: int, where: tuple[str, ...]) -> tuple[int, str]:
        set_up(mind, f"{server.url}/v1", dims)
        done = nebula(mind, "subject", "search", subject, "灯塔的灯", *where, NEBULA_EMBED_KEY="sk-test")
        return done.returncode, (done.stdout + done.stderr).decode()

    with serving("nodims", tmp_path) as server:
        code, said = search(server, "a", 64, lived(mind, tmp_path / "p", "a"))
        assert code == 0, said
    with serving("good", tmp_path) as server:
        where = lived(mind, tmp_path / "q", "b")
        code, said = search(server, "b", 128, where)
        assert code != 0
        assert "128" in said
        assert "64" in said
        base = sqlite3.connect(tmp_path / "q" / ".nbook" / "subject-rag.sqlite")
        assert base.execute("SELECT count(*) FROM chunk").fetchone() == (0,)
        base.close()
        assert search(server, "b", 64, where)[0] == 0


def test_s13_an_id_that_walks_out_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "w"
    (work / "outside").mkdir(parents=True)
    (work / "proj").mkdir()
    monkeypatch.chdir(work / "proj")
    before = sorted(work.rglob("*"))
    for bad in ("../outside/x", "..", ".", "", str(work / "outside" / "abs"), "a/b", "a\\b", "..\\x", "a\nb"):
        for words in (
            ("init", "--", bad),
            ("event", "--", bad, "不该存在"),
            ("search", "--", bad, "不该"),
            ("context", "--query", "不该", "--", bad),
            ("show", "--", bad),
            ("soul", "--", bad),
            ("rm", "--yes", "--", bad),
            ("check", "--", bad),
            ("save", "--", bad),
            ("memory", "--", bad, "set", "x", "不该存在"),
            ("tell", "--", bad, bad, "1"),
            ("diff", "--", bad, bad),
            ("index", "rebuild", "--", bad),
        ):
            assert main(["subject", *words]) == 2, words
            said = capsys.readouterr().err
            assert said.count("\n") == 1
            assert "文件夹名" in said
    assert sorted(work.rglob("*")) == before
