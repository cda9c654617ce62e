"""A text in the user's own editor: $VISUAL, $EDITOR, else vi where it is there and somebody sits at a terminal."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from nebula import reasons
from nebula.errors import EditorFailed, FileUnusable
from nebula.mindlib import files, scratch
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping


def edit(text: str, environ: Mapping[str, str], suffix: str = ".txt") -> str:
    """The text as it was saved. Raises EditorFailed where there is no editor or it ended with a failure."""
    given = environ.get("VISUAL") or environ.get("EDITOR") or (sys.stdin.isatty() and shutil.which("vi")) or ""
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise EditorFailed(given, because("quotes")) from error
    if not words:
        raise EditorFailed("-", because("lacks", what="$EDITOR"))
    with scratch.folder(scratch.EDIT) as (folder, held):
        path = folder / f"text{suffix}"
        files.replace(path, text.encode("utf-8", "replace"), durable=False)
        try:
            code = subprocess.run([*words, str(path)], check=False, pass_fds=[held] if held >= 0 else []).returncode
        except OSError as error:
            raise EditorFailed(words[0], reasons.of(error)) from error
        if code:
            raise EditorFailed(words[0], because("exit", code=code))
        try:
            return path.read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise FileUnusable(path, reasons.of(error)) from error
