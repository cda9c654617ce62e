"""Hooks in agents' own settings: the passage at a session's start and on each prompt, and `记住：…` remembered.

All three agents keep the same shape, event -> [{"hooks": [{"type", "command", "timeout"}]}], and take the same answer,
{"hookSpecificOutput": {"hookEventName", "additionalContext"}} (their hooks references, read 2026-12). Only entries that
run our command are ever added or removed; the file as it was is kept beside it, and comes back byte for byte.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from nebula import messages, places, reasons
from nebula.errors import NebulaError, NotOurs
from nebula.mindlib import files
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nebula.mind import Mind

BACKUP = ".before-nebula"
BOM = b"\xef\xbb\xbf"  # as Windows editors put before a text
HOST_TIMEOUT = 10  # seconds after which the host gives up; the hook itself gives up sooner
BUDGET = 2000  # characters
_WISH = re.compile(r"\s*(?:请?记住|(?:please )?remember(?: this)?)\s*[:：]\s*(\S.*)", re.DOTALL | re.IGNORECASE)

#: Half a surrogate pair as JSON escapes it, which is no character: a host that cuts a prompt within one sends it.
_HALF = re.compile(rb"(?i)(\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\ud[89a-f][0-9a-f]{2}")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|-?[0-9][0-9.eE+-]*')


@dataclass(frozen=True)
class Host:
    """Where an agent keeps its hooks, what it calls the two events, and how many of its time units are a second."""

    variable: str
    folder: str
    file: str
    start: str
    prompt: str
    second: int = 1

    def path(self, environ: Mapping[str, str]) -> Path:
        """The user's own settings file of this agent."""
        moved = environ.get(self.variable) if self.variable else None
        return (Path(moved) if moved else places.home(environ) / self.folder) / self.file


HOSTS: Mapping[str, Host] = {
    "claude-code": Host("CLAUDE_CONFIG_DIR", ".claude", "settings.json", "SessionStart", "UserPromptSubmit"),
    "codex": Host("CODEX_HOME", ".codex", "hooks.json", "SessionStart", "UserPromptSubmit"),
    "gemini": Host("", ".gemini", "settings.json", "SessionStart", "BeforeAgent", 1000),
}
#: What is shown for an agent whose settings we do not know: the shape that agents copy from each other.
OTHER = Host("", "", "", "SessionStart", "UserPromptSubmit")


def entries(name: str, command: str) -> dict[str, Any]:
    """What stands under `hooks` for an agent; also what `--print` shows, of any agent."""
    host = HOSTS.get(name, OTHER)
    hook = {"type": "command", "command": command, "timeout": HOST_TIMEOUT * host.second}
    return {event: [{"hooks": [hook]}] for event in (host.start, host.prompt)}


def install(name: str, environ: Mapping[str, str], command: str) -> bool:
    """Write the entries; -> whether anything changed. Raises NotOurs for a file of another shape, WriteFailed."""
    path = HOSTS[name].path(environ)
    data, before = _read(path)
    after = _without(before, name)
    for event, groups in entries(name, command).items():
        after.setdefault("hooks", {}).setdefault(event, []).extend(groups)
    if after == before:
        return False
    files.make_folder(path.parent)
    if path.exists() and not installed(before, name):
        files.replace(_backup(path), data)
    _replace(path, _dumped(after))
    return True


def remove(name: str, environ: Mapping[str, str]) -> bool:
    """Take our entries out; -> whether there were any. The file is as before, where nobody else changed it."""
    path = HOSTS[name].path(environ)
    _, before = _read(path)
    backup = _backup(path)
    if not installed(before, name):
        return False
    after = _without(before, name)
    kept = backup.read_bytes() if backup.is_file() else None
    if kept is not None and _filled(_parsed(path, kept)) == _filled(after):
        _replace(path, kept)
    elif after:
        _replace(path, _dumped(after))
    else:
        Path(os.path.realpath(path)).unlink()  # a link stays a link
    backup.unlink(missing_ok=True)
    return True


def status(name: str, environ: Mapping[str, str]) -> bool:
    """Whether our entries stand in an agent's settings. Raises NotOurs."""
    return installed(_read(HOSTS[name].path(environ))[1], name)


def installed(settings: Mapping[str, Any], name: str) -> bool:
    """Whether any entry of the settings is ours."""
    return _without(settings, name) != settings


def _without(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The settings but for our entries, and for what they alone made necessary."""
    kept = dict(settings)
    events = {event: _others(groups, name) for event, groups in settings.get("hooks", {}).items()}
    if "hooks" in settings:
        kept["hooks"] = {event: groups for event, groups in events.items() if groups or not settings["hooks"][event]}
        if settings["hooks"] and not kept["hooks"]:
            del kept["hooks"]
    return kept


def _filled(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings but for events of which nothing stands: whether one was there empty only the backup tells."""
    events = {event: groups for event, groups in settings.get("hooks", {}).items() if groups}
    others = {key: value for key, value in settings.items() if key != "hooks"}
    return {**others, "hooks": events} if events else others


def _others(groups: list[Any], name: str) -> list[Any]:
    found = []
    for group in groups:
        hooks = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(hooks, list):
            found.append(group)
            continue
        others = [hook for hook in hooks if not _is_ours(hook, name)]
        if others or not hooks:
            found.append(group if others == hooks else {**group, "hooks": others})
    return found


def _is_ours(hook: object, name: str) -> bool:
    return isinstance(hook, dict) and f"nebula hooks run {name}" in str(hook.get("command"))


def _read(path: Path) -> tuple[bytes, dict[str, Any]]:
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise NotOurs(path, because("irregular"))
    data = files.read_given(path) if path.exists() else b""
    return data, _parsed(path, data)


def _parsed(path: Path, data: bytes) -> dict[str, Any]:
    try:
        text = data.removeprefix(BOM)
        obj = orjson.loads(text) if text.strip() else {}
    except orjson.JSONDecodeError as error:
        raise NotOurs(path, reasons.of(error)) from error
    if text.strip() and _tokens(text) != _tokens(orjson.dumps(obj)):
        raise NotOurs(path, because("unfaithful"))
    events = obj.get("hooks", {}) if isinstance(obj, dict) else None
    if not isinstance(events, dict) or not all(isinstance(groups, list) for groups in events.values()):
        raise NotOurs(path, 'not {"hooks": {"…": […]}}')
    return obj


def _tokens(data: bytes) -> list[object]:
    """The strings and numbers of a JSON text: a key that stands twice, or an integer over 64 bits, changes them."""
    found = _TOKEN.findall(data)
    return [
        orjson.loads(one) if one[:1] == b'"' else one if one.lstrip(b"-").isdigit() else float(one) for one in found
    ]


def _dumped(settings: Mapping[str, Any]) -> bytes:
    return orjson.dumps(settings, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    files.replace(path, data)
    path.chmod(mode)


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def answer(name: str, given: bytes, mind: Mind) -> dict[str, Any] | None:
    """What the host is told for one of its events; None where there is nothing to tell. Raises NebulaError."""
    host = HOSTS.get(name, OTHER)
    asked = _event(given)
    event, session = asked["hook_event_name"], str(asked.get("session_id", ""))
    if event not in (host.start, host.prompt) or (mind.store.in_folder and not mind.folder.is_dir()):
        return None
    prompt = str(asked.get("prompt", "")) if event == host.prompt else ""
    parts = [_remembered(mind, prompt, session)]
    if event == host.start or prompt.strip():
        parts.append(mind.context(prompt, budget=BUDGET, session=session, standing=event == host.start).text)
    text = "\n".join(part for part in parts if part)
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}} if text else None


def _event(given: bytes) -> Any:
    try:
        return orjson.loads(given)
    except orjson.JSONDecodeError:
        return orjson.loads(_HALF.sub(lambda found: found[1] or rb"\ufffd", given))


def _remembered(mind: Mind, prompt: str, session: str) -> str:
    """A prompt that begins with `记住：` or `remember:` is remembered, in the words that follow."""
    wish = _WISH.fullmatch(prompt)
    if wish is None:
        return ""
    try:
        written = mind.add(wish[1].strip(), by="hook", via="user", session=session).memories[0]
    except NebulaError as error:
        return messages.say("hooks.not_remembered", reason=error.message)
    return messages.say("hooks.remembered", ref=written.ref)
