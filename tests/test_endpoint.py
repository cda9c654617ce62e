"""Where vectors are asked for: settings, a project's own file, and the places of a key in their order."""

from __future__ import annotations

import json
import os
import stat
import sys
import types
from typing import TYPE_CHECKING

import pytest

from nebula import messages
from nebula.encoder.remote import Endpoint
from nebula.endpoint import resolve, store_key
from nebula.errors import BadValue, EmbeddingNotSet, FileUnusable, SettingsUnusable, WriteFailed
from nebula.mindlib import files
from nebula.settings import build

if TYPE_CHECKING:
    from pathlib import Path

    from nebula.settings import EmbeddingSettings

KEY = "sk-Pq7_vW3xZ9"
RAW = {"provider": "openai-compatible", "baseURL": "https://h/v1", "model": "m", "dimensions": 64}
SET = build({"embedding": RAW}).embedding
GIVEN = {"NEBULA_EMBED_KEY": KEY}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """In English, and without the keyring of this machine."""
    messages.use("en")
    monkeypatch.setitem(sys.modules, "keyring", None)


def project(folder: Path, document: object) -> Path:
    (folder / ".nbook").mkdir(parents=True)
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    (folder / ".nbook" / "config.json").write_bytes(data)
    return folder


def key_of(settings: EmbeddingSettings, folder: Path, environ: dict[str, str] | None = None) -> str:
    found = resolve(settings, None, folder, environ or {})
    assert found is not None
    return found.key


class TestResolve:
    def test_built_in_unless_set(self, tmp_path: Path) -> None:
        """Nothing is looked for, not even a key."""
        assert resolve(build().embedding, tmp_path, tmp_path / "nowhere", {}) is None

    def test_an_endpoint(self, tmp_path: Path) -> None:
        assert resolve(SET, None, tmp_path, GIVEN) == Endpoint("https://h/v1", "m", 64, KEY, 30.0)
        more = {**RAW, "timeoutMs": 1500, "allowHttp": True}
        found = resolve(build({"embedding": more}).embedding, tmp_path, tmp_path, GIVEN)
        assert found == Endpoint("https://h/v1", "m", 64, KEY, 1.5, allow_http=True)
        assert KEY not in repr(found)

    def test_all_that_is_missing_is_told_at_once(self, tmp_path: Path) -> None:
        bare = build({"embedding": {"provider": "openai-compatible"}}).embedding
        with pytest.raises(EmbeddingNotSet) as caught:
            resolve(bare, None, tmp_path, {})
        assert caught.value.exit_code == 4
        names = ("embedding.baseURL", "embedding.model", "embedding.dimensions", "NEBULA_EMBED_KEY")
        assert [name in caught.value.message for name in (*names, str(tmp_path / "embedding.key"))] == [True] * 5
        with pytest.raises(EmbeddingNotSet, match=r"missing: dimensions \(embedding.dimensions\)\."):
            resolve(build({"embedding": {**RAW, "dimensions": 0}}).embedding, None, tmp_path, GIVEN)

    def test_switched_off(self, tmp_path: Path) -> None:
        with pytest.raises(EmbeddingNotSet, match="switched off"):
            resolve(build({"embedding": {**RAW, "provider": "off"}}).embedding, None, tmp_path, GIVEN)

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("provider", "openai"),
            ("dimensions", -1),
            ("dimensions", 1.5),
            ("timeoutMs", 0),
            ("allowHttp", 1),
            ("baseURL", None),
            ("model", 3),
            ("keyFile", []),
        ],
    )
    def test_a_wrong_value_is_refused(self, key: str, value: object) -> None:
        with pytest.raises(SettingsUnusable, match=f"embedding.{key}"):
            build({"embedding": {key: value}})


class TestProject:
    def test_chooses_model_and_dimensions(self, tmp_path: Path) -> None:
        own = project(tmp_path / "p", {"theme": 1, "embedding": {"model": "other", "dimensions": 32}})
        assert resolve(SET, own, tmp_path, GIVEN) == Endpoint("https://h/v1", "other", 32, KEY)
        empty = project(tmp_path / "q", {"embedding": {"model": "", "dimensions": 0}})
        assert resolve(SET, empty, tmp_path, GIVEN) == Endpoint("https://h/v1", "m", 64, KEY)
        assert resolve(SET, project(tmp_path / "r", {}), tmp_path, GIVEN) == resolve(SET, None, tmp_path, GIVEN)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("baseURL", "https://evil.example/v1"),
            ("provider", "openai-compatible"),
            ("allowHttp", True),
            ("keyFile", "/etc/passwd"),
            ("timeoutMs", 1),
            ("key", "x"),
            ("base_url", "https://evil.example"),
        ],
    )
    def test_chooses_nothing_else(self, name: str, value: object, tmp_path: Path) -> None:
        """Not even beside the built-in encoder: a cloned project can't choose who is told the key."""
        own = project(tmp_path / "p", {"embedding": {"model": "other", name: value}})
        for settings in (SET, build().embedding):
            with pytest.raises(SettingsUnusable) as caught:
                resolve(settings, own, tmp_path, GIVEN)
            assert f"embedding.{name} in {own / '.nbook' / 'config.json'}" in caught.value.message
            assert "embedding.model and embedding.dimensions only" in caught.value.message

    @pytest.mark.parametrize(
        "document",
        [
            b"{",
            b"[]",
            b"\xff",
            {"embedding": "m"},
            {"embedding": []},
            {"embedding": {"dimensions": "64"}},
            {"embedding": {"model": 5}},
        ],
    )
    def test_a_file_that_is_none(self, document: object, tmp_path: Path) -> None:
        with pytest.raises(SettingsUnusable, match=r"config\.json"):
            resolve(SET, project(tmp_path / "p", document), tmp_path, GIVEN)

    @pytest.mark.skipif(os.name != "posix", reason="devices and pipes of POSIX")
    def test_a_link_to_a_device_or_pipe_is_not_read(self, tmp_path: Path) -> None:
        path = project(tmp_path / "p", {}) / ".nbook" / "config.json"
        os.mkfifo(tmp_path / "pipe")
        for target in ("/dev/zero", tmp_path / "pipe", tmp_path):
            path.unlink()
            path.symlink_to(target)
            with pytest.raises(FileUnusable, match="regular"):
                resolve(SET, tmp_path / "p", tmp_path, GIVEN)

    def test_an_endless_file_is_not_read(self, tmp_path: Path) -> None:
        with pytest.raises(FileUnusable, match="256 kB"):
            resolve(SET, project(tmp_path / "p", b" " * (256 * 1024 + 1)), tmp_path, GIVEN)


class TestKey:
    def test_environment_file_keyring(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[str, str]] = []

        def get_password(service: str, user: str) -> str:
            asked.append((service, user))
            return "of-the-keyring"

        ring = types.ModuleType("keyring")
        monkeypatch.setattr(ring, "get_password", get_password, raising=False)
        monkeypatch.setitem(sys.modules, "keyring", ring)
        assert key_of(SET, tmp_path) == "of-the-keyring"
        assert asked == [("nebula", "embedding")]
        store_key(tmp_path, "of-the-file")
        assert key_of(SET, tmp_path, {"NEBULA_EMBED_KEY": " "}) == "of-the-file"
        assert key_of(SET, tmp_path, GIVEN) == KEY
        assert len(asked) == 1

    def test_a_keyring_that_fails_is_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def locked(*_: str) -> str:
            raise RuntimeError(KEY)

        ring = types.ModuleType("keyring")
        monkeypatch.setattr(ring, "get_password", locked, raising=False)
        monkeypatch.setitem(sys.modules, "keyring", ring)
        with pytest.raises(EmbeddingNotSet, match="NEBULA_EMBED_KEY") as caught:
            key_of(SET, tmp_path)
        assert KEY not in str(caught.value)

    def test_another_file(self, tmp_path: Path) -> None:
        """Relative to the settings' folder, or absolute."""
        store_key(tmp_path / "keys", "elsewhere")
        for name in ("keys/embedding.key", str(tmp_path / "keys" / "embedding.key")):
            assert key_of(build({"embedding": {**RAW, "keyFile": name}}).embedding, tmp_path) == "elsewhere"
        with pytest.raises(EmbeddingNotSet, match=r"absent\.key"):
            key_of(build({"embedding": {**RAW, "keyFile": "absent.key"}}).embedding, tmp_path)

    def test_none_says_that_there_is_none(self, tmp_path: Path) -> None:
        store_key(tmp_path, "none")
        assert key_of(SET, tmp_path) == "none"

    @pytest.mark.skipif(os.name != "posix", reason="the rights of POSIX")
    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o666, 0o610])
    def test_one_that_others_can_reach_is_refused(self, mode: int, tmp_path: Path) -> None:
        path = store_key(tmp_path, KEY)
        path.chmod(mode)
        with pytest.raises(FileUnusable) as caught:
            key_of(SET, tmp_path)
        assert f"chmod 600 {path}" in caught.value.message
        assert KEY not in str(caught.value)
        path.chmod(0o600)
        assert key_of(SET, tmp_path) == KEY

    def test_a_file_of_something_else_is_not_shown(self, tmp_path: Path) -> None:
        path = store_key(tmp_path, KEY)
        for data in (f"{KEY}\n{KEY}", f"key = {KEY}", "密钥"):
            path.write_text(data, encoding="utf-8")
            with pytest.raises(FileUnusable) as caught:
                key_of(SET, tmp_path)
            assert KEY[:6] not in str(caught.value)


class TestStore:
    def test_for_the_owner_alone(self, tmp_path: Path) -> None:
        """Whatever the umask, and where a file others could read was before."""
        folder = tmp_path / "new" / "mind"
        old = os.umask(0)
        try:
            path = store_key(folder, f" {KEY}\n")
            path.chmod(0o644)
            store_key(folder, KEY)
        finally:
            os.umask(old)
        assert path == folder / "embedding.key"
        assert path.read_text() == f"{KEY}\n"
        assert [entry.name for entry in folder.iterdir()] == ["embedding.key"]
        if os.name == "posix":
            assert stat.S_IMODE(path.stat().st_mode) == 0o600

    @pytest.mark.parametrize("key", ["", " \n", f"{KEY} {KEY}", f"{KEY}\n{KEY}", f"密{KEY}"])
    def test_what_is_no_key(self, key: str, tmp_path: Path) -> None:
        with pytest.raises(BadValue) as caught:
            store_key(tmp_path, key)
        assert KEY[:6] not in f"{caught.value} {caught.value.facts}"
        assert not list(tmp_path.iterdir())

    @pytest.mark.skipif(os.name != "posix", reason="the rights of POSIX")
    def test_a_disk_without_rights_keeps_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def laxly(path: Path, data: bytes) -> None:
            path.write_bytes(data)
            path.chmod(0o644)

        monkeypatch.setattr(files, "replace", laxly)
        with pytest.raises(WriteFailed, match="chmod 600"):
            store_key(tmp_path, KEY)
        assert not list(tmp_path.iterdir())
