"""Whose vectors serve the subjects: what the settings, a project's own file and the places of a key come to.

A project comes from anywhere, so it may choose model and dimensions, never the address that is told the key.
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from nebula import messages, reasons
from nebula.encoder.remote import Endpoint, is_key
from nebula.errors import BadValue, EmbeddingNotSet, FileUnusable, SettingsUnusable, WriteFailed
from nebula.mindlib import files
from nebula.settings import check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nebula.settings import EmbeddingSettings

KEY_VARIABLE, KEY_FILE = "NEBULA_EMBED_KEY", "embedding.key"
KEYRING = ("nebula", "embedding")  # service, user
PROJECT_FILE = Path(".nbook", "config.json")
PROJECT_KEYS = ("model", "dimensions")
SIZE_LIMIT = 256 * 1024  # bytes of a key's file, of a project's file


def resolve(
    settings: EmbeddingSettings, project: Path | None, folder: Path, environ: Mapping[str, str]
) -> Endpoint | None:
    """The endpoint that is set, None for the built-in encoder. Asks no network.

    `folder` is that of the global mind-config.json; the project's `.nbook/config.json` decides above it. Raises
    EmbeddingNotSet with all that is missing or where it is off, SettingsUnusable for a project's file that holds more
    than it may, FileUnusable for a key that others can read.
    """
    chosen = replace(settings, **_of_project(project)) if project is not None else settings
    if chosen.provider == "builtin":
        return None
    if chosen.provider == "off":
        raise EmbeddingNotSet(messages.say("embedding.off"))
    path = _key_path(chosen, folder)
    key = _key(path, environ)
    wanted = {"baseURL": chosen.baseURL, "model": chosen.model, "dimensions": chosen.dimensions, "key": key}
    missing = [messages.say(f"embedding.missing.{name}", path=path) for name, value in wanted.items() if not value]
    if missing:
        raise EmbeddingNotSet(messages.say("embedding.missing", names=", ".join(missing)))
    return Endpoint(
        chosen.baseURL, chosen.model, chosen.dimensions, key, chosen.timeoutMs / 1000, allow_http=chosen.allowHttp
    )


def store_key(folder: Path, key: str) -> Path:
    """Keep the key in `embedding.key`, 0600, in one step; -> its path.

    Raises BadValue for what is no key (without showing it), WriteFailed where it can't be kept from others.
    """
    key = key.strip()
    if not is_key(key):
        raise BadValue(KEY_FILE, "***", messages.say("embedding.text"))
    files.make_folder(folder)
    path = folder / KEY_FILE
    files.replace(path, key.encode() + b"\n")
    if _is_open(path.stat().st_mode):  # a disk that knows no rights
        path.unlink()
        raise WriteFailed(path, messages.say("embedding.open", path=path))
    return path


def _of_project(project: Path) -> dict[str, Any]:
    """What a project's file sets, checked; what it leaves empty stays as it is."""
    path = project / PROJECT_FILE
    try:
        data = _bytes(path)
    except FileNotFoundError:
        return {}
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        document = None
    own = document.get("embedding", {}) if isinstance(document, dict) else None
    if not isinstance(own, dict):
        raise SettingsUnusable(path, "embedding", messages.say("embedding.json"))
    return {name: value for name, given in own.items() if (value := _checked(path, name, given))}


def _checked(path: Path, name: str, value: object) -> object:
    key = f"embedding.{name}"
    if name not in PROJECT_KEYS:
        raise SettingsUnusable(path, key, messages.say("embedding.project"))
    try:
        return check(key, value)
    except BadValue as bad:
        raise SettingsUnusable(path, key, f"{bad.facts['value']} ≠ {bad.facts['expected']}") from bad


def _key_path(chosen: EmbeddingSettings, folder: Path) -> Path:
    return folder / Path(chosen.keyFile or KEY_FILE).expanduser()


def _key(path: Path, environ: Mapping[str, str]) -> str:
    """The key: the environment's, the file's, the keyring's; "" where there is none."""
    return environ.get(KEY_VARIABLE, "").strip() or _of_file(path) or _of_keyring()


def _of_file(path: Path) -> str:
    try:
        data = _bytes(path, private=True)
    except FileNotFoundError:
        return ""
    key = data.decode("utf-8", "replace").strip()
    if key and not is_key(key):
        raise FileUnusable(path, messages.say("embedding.text"))
    return key


def _of_keyring() -> str:
    """What the `keyring` package keeps; it is no dependency, and without a backend it raises anything."""
    import importlib

    with contextlib.suppress(Exception):
        return (importlib.import_module("keyring").get_password(*KEYRING) or "").strip()
    return ""


def _bytes(path: Path, *, private: bool = False) -> bytes:
    """A regular file's bytes. Raises FileNotFoundError, and FileUnusable for all else, so for a key others can read."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # looked at first: a pipe would be waited for
            raise _irregular(path)
        if private and _is_open(mode):
            raise FileUnusable(path, messages.say("embedding.open", path=path))
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError from None
    except OSError as error:
        raise FileUnusable(path, reasons.of(error)) from error
    if len(data) > SIZE_LIMIT:
        raise _irregular(path)
    return data


def _irregular(path: Path) -> FileUnusable:
    return FileUnusable(path, messages.say("embedding.irregular", limit=SIZE_LIMIT // 1024))


def _is_open(mode: int) -> bool:
    """Whether others than the owner may do anything with a file; nowhere but on POSIX do the bits say so."""
    return os.name == "posix" and bool(stat.S_IMODE(mode) & 0o077)
