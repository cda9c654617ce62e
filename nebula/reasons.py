"""Why something could not be done, in the language in use: what the system or a library complained of, in our words.

Failures are told by their kind, their words left aside. What no kind is known for is quoted as the other's saying.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from nebula import messages
from nebula.errors import NebulaError, short

if TYPE_CHECKING:
    from collections.abc import Mapping

LENGTH = 160  # characters of another's saying

#: What the system refused -> key of the catalogue below `because.`. Names, for not every system has every number.
_SYSTEM: Mapping[str, str] = {
    "ENOENT": "absent",
    "EACCES": "denied",
    "EPERM": "denied",
    "EEXIST": "there",
    "ENOTDIR": "no_folder",
    "EISDIR": "folder",
    "ENOTEMPTY": "not_empty",
    "ENOSPC": "full",
    "EDQUOT": "full",
    "EROFS": "read_only",
    "EIO": "broken_disk",
    "EMFILE": "many_open",
    "ENFILE": "many_open",
    "ELOOP": "link",
    "ENAMETOOLONG": "long_name",
    "EBUSY": "busy",
    "ETXTBSY": "busy",
    "EFBIG": "large",
    "EXDEV": "elsewhere",
    "ENOMEM": "memory",
    "ENODEV": "irregular",
    "ENXIO": "irregular",
    "ENOEXEC": "no_program",
    "ECONNREFUSED": "refused",
    "ECONNRESET": "dropped",
    "ECONNABORTED": "dropped",
    "EPIPE": "dropped",
    "EHOSTUNREACH": "unreachable",
    "ENETUNREACH": "unreachable",
    "ENETDOWN": "unreachable",
    "ETIMEDOUT": "late",
    "EAGAIN": "busy",
}
#: Kinds of other failures, by the name of their class: a library that raised one is loaded, one that did not is not
#: loaded for this.
_KINDS: Mapping[str, str] = {
    "gaierror": "no_host",
    "NameResolutionError": "no_host",
    "SSLCertVerificationError": "certificate",
    "SSLError": "tls",
    "TimeoutError": "late",
    "TimeoutExpired": "late",
    "BadZipFile": "bad_zip",
    "EOFError": "cut",
    "MemoryError": "memory",
    "RecursionError": "deep",
}
#: What SQLite calls its failures, as far as a dot or an end.
_SQLITE: Mapping[str, str] = {
    "SQLITE_BUSY": "busy",
    "SQLITE_LOCKED": "busy",
    "SQLITE_FULL": "full",
    "SQLITE_READONLY": "read_only",
    "SQLITE_IOERR": "broken_disk",
    "SQLITE_CANTOPEN": "denied",
    "SQLITE_CORRUPT": "damaged",
    "SQLITE_NOTADB": "damaged",
}
#: What a database server refused: the beginning of its SQLSTATE.
_SQLSTATE: Mapping[str, str] = {
    "28": "password",
    "3D": "no_database",
    "42501": "denied",
    "25006": "read_only",
    "53100": "full",
    "53300": "full_house",
    "57P0": "down",
    "08": "dropped",
}


def because(key: str, /, **facts: object) -> str:
    """The catalogue's words for a reason."""
    return messages.say(f"because.{key}", **facts)


def odd(key: str, value: object, expected: object) -> str:
    """That a value is not what it has to be."""
    return because("value", key=key, value=short(value, 40), expected=expected)


def of(error: BaseException) -> str:
    """Why it failed, one line without the name of the file.

    Worked figures: OSError(ENOSPC) -> 磁盘满了; orjson's error at column 3 -> 第 3 个字符处不合 JSON 的写法.
    """
    if isinstance(error, NebulaError):
        return str(error.facts.get("reason") or error.message)
    if isinstance(error, UnicodeDecodeError):
        return because("utf8", at=error.start)
    name = errno.errorcode.get(error.errno or 0, "") if isinstance(error, OSError) else ""
    if name in _SYSTEM:
        return because(_SYSTEM[name])
    if isinstance(error, ValueError) and hasattr(error, "colno"):
        return _of_json(error)
    key = next((_KINDS[one.__name__] for one in type(error).__mro__ if one.__name__ in _KINDS), "")
    sqlite = str(getattr(error, "sqlite_errorname", None) or "")
    key = key or next((key for name, key in _SQLITE.items() if sqlite.startswith(name)), "")
    return because(key) if key else quoted(getattr(error, "strerror", None) or error, type(error).__name__)


def _of_json(error: ValueError) -> str:
    """Of a parser's failure (orjson, json): where it stopped."""
    line, column, said = getattr(error, "lineno", 1), getattr(error, "colno", 1), str(getattr(error, "msg", ""))
    if "UTF-8" in said:
        return because("not_utf8")
    if "zero-length" in said:
        return because("empty")
    if "depth" in said:
        return because("deep")
    return because("json", column=column) if line == 1 else because("json_line", line=line, column=column)


def quoted(said: object, otherwise: str = "-") -> str:
    """What another program said, as its saying, in one line of at most `LENGTH` characters; `otherwise` for nothing."""
    return because("said", said=short(" ".join(str(said).split()) or otherwise, LENGTH))


def of_server(state: str, said: str) -> str:
    """Why a database server refused, by its SQLSTATE, with what it or the driver said."""
    key = next((key for start, key in _SQLSTATE.items() if state.startswith(start)), "")
    return because("said_too", why=because(key), said=short(" ".join(said.split()), LENGTH)) if key else quoted(said)


def ended(code: int, said: bytes) -> str:
    """Why another program failed: its exit code, and what it wrote to standard error."""
    words = " ".join(said.decode("utf-8", "replace").split())
    return because("exit_said", code=code, said=short(words, LENGTH)) if words else because("exit", code=code)
