"""One HTML page from its parts: code and style inline, hashed in the page's Content-Security-Policy, data inert.

Three layers keep a stored text from becoming code (reliability 5.2): in the data every `<`, `>`, `&`, U+2028 and U+2029
is escaped, the script writes text by textContent alone, and the policy lets no other script run.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

_ESCAPED = {
    b"<": b"\\u003c",
    b">": b"\\u003e",
    b"&": b"\\u0026",
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
}


def assembled(package: str, name: str, language: str, data: object) -> bytes:
    """`name`.html of a package with `name`.css, `name`.js and the data put in; equal data give equal bytes."""
    folder = files(package)
    code, style = (folder.joinpath(f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    page = folder.joinpath(f"{name}.html").read_text(encoding="utf-8")
    for mark, value in {
        "%LANG%": language,
        "%SCRIPT_HASH%": _hash(code),
        "%STYLE_HASH%": _hash(style),
        "%STYLE%": style,
        "%SCRIPT%": code,
    }.items():
        page = page.replace(mark, value)
    before, after = page.split("%DATA%")
    return before.encode() + inert(data) + after.encode()


def inert(data: object) -> bytes:
    """JSON that ends no script and begins no comment, whatever its texts hold."""
    import orjson

    found = orjson.dumps(data)
    for char, escape in _ESCAPED.items():
        found = found.replace(char, escape)
    return found


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
