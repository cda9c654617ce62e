"""`--install-completion`, `--show-completion`: for the shell that is named after them, or the one that asks.

The scripts are typer's; its own options ignore a name where they can tell the shell themselves, and its script for
zsh does nothing at the first Tab of a session but define itself.
"""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

from nebula import messages
from nebula.cli.completion import VARIABLE
from nebula.errors import BadValue

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOW = "--show-completion"
POWERSHELLS = ("powershell", "pwsh")
#: zsh runs the file as the function `_nebula` when Tab is first pressed, and that Tab wants an answer too.
FIRST_TAB = '\n\nif [[ "${funcstack[1]}" == _nebula ]]; then _nebula_completion "$@"; fi\n'


def run(args: Sequence[str]) -> int:
    """Do what the first argument says; -> the exit code. Raises BadValue for what is no shell that is here."""
    import typer.completion

    typers: Any = typer.completion  # which exports them in fact, not by declaration

    option, _, joined = args[0].partition("=")
    words = [*([joined] if joined else []), *args[1:]]
    asked = " ".join(words) or str(typers._get_shell_name())  # noqa: SLF001 - typer has no other; None where none asks
    here = [name for name in POWERSHELLS if option == SHOW or shutil.which(name)]
    if asked not in (offered := ("bash", "zsh", "fish", *here)):
        raise BadValue(option, asked, " · ".join(offered))
    script = typers.get_completion_script(prog_name="nebula", complete_var=VARIABLE, shell=asked)
    whole = str(script) + (FIRST_TAB if asked == "zsh" else "\n")
    if option == SHOW:
        sys.stdout.write(whole)
        return 0
    _, path = typers.install(asked, "nebula", VARIABLE)
    if asked == "zsh":
        from nebula.mindlib import files

        files.replace(path, whole.encode())
    sys.stdout.write(messages.say("completion.installed", shell=asked, path=path) + "\n")
    return 0
