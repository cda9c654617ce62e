"""Subject ids: one plain folder name each, and never two that a person or a file system might take for one."""

from __future__ import annotations

import re
import unicodedata

from nebula.errors import BadSubjectId

LONGEST, LONGEST_BYTES = 64, 200
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|conin|conout|(com|lpt)[0-9¹²³])")
#: Letters and marks of any script, decimal digits, and these.
_OTHERS = frozenset("_-")


def check_id(text: str) -> str:
    """The id in Unicode form NFC. Raises BadSubjectId for anything but letters, digits, `_` and `-`."""
    found = unicodedata.normalize("NFC", text)
    plain = all(unicodedata.category(char)[0] in "LM" or char.isdecimal() or char in _OTHERS for char in found)
    long = len(found) > LONGEST or len(found.encode("utf-8", "surrogatepass")) > LONGEST_BYTES
    begins = found[:1].isalnum() or found[:1] == "_"
    if not found or not plain or long or not begins or _DEVICES.fullmatch(found):
        raise BadSubjectId(text)
    return found


def key(name: str) -> str:
    """What two ids must not share: compatible forms and cases are one (`Ａ`, `a`)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
