"""A failure as a person sees it: one line on stderr, in JSON a document, the exit code; never a traceback unasked."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import typer.exceptions

from nebula import messages
from nebula.address import masked
from nebula.cli import INTERRUPTED, printing
from nebula.errors import NebulaError, short

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What the parser says of a whole command line, for which it has no class.
_PARSER = {
    "needs_value": r"Option '(.*)' requires an argument",
    "takes_none": r"Option '(.*)' does not take a value",
}
UNEXPECTED = 3
USAGE = 2


def report(error: Exception, args: list[str]) -> int:
    """Tell of an error that ended a command; -> the exit code."""
    args = args[: args.index("--")] if "--" in args else args  # what follows is text
    if "--debug" in args:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, NebulaError):
        return _tell(error.code, error.message, error.hint, error.exit_code, args)
    if isinstance(error, typer.exceptions.TyperException) or hasattr(error, "format_message"):
        if type(error).__name__ == "NoArgsIsHelpError":  # a group alone: its message is its help
            sys.stdout.write(f"{error}\n")
            return 0
        dashed = type(error).__name__ == "NoSuchOption"
        hint = messages.say("hint.usage" if dashed else "hint.command_help", command=" ".join(_named(args)[0]))
        return _tell("usage", _usage(error, args), hint, USAGE, args)
    if isinstance(error, typer.exceptions.Abort | EOFError):
        return INTERRUPTED
    saved = _save(error)
    said = messages.say("error.unexpected", what=short(f"{type(error).__name__}: {error}", 120))
    return _tell("unexpected", said, messages.say("hint.unexpected", path=saved), UNEXPECTED, args)


def _usage(error: Exception, args: list[str]) -> str:
    words, inner = _named(args)
    rest = args[len(words) - 1 :]
    if inner and rest and not rest[0].startswith("-"):
        import difflib

        said = messages.say("error.unknown_command", name=short(" ".join([*words[1:], rest[0]])))
        return f"{said} {_meant(difflib.get_close_matches(rest[0], inner, n=1, cutoff=0.6))}".strip()
    return messages.say("error.usage", what=_in_words(error))


def _meant(nearest: Sequence[str]) -> str:
    return messages.say("word.did_you_mean", name=nearest[0]) if nearest else ""


def _named(args: list[str]) -> tuple[list[str], list[str]]:
    """The command that arguments name: its words (`nebula`, `subject`, …), and the commands that a group holds."""
    from nebula.cli.app import tree_for

    node, words = tree_for(messages.language(), args or [""]), ["nebula"]
    for arg in args:
        inner = getattr(node, "commands", {}).get(arg)
        if inner is None:
            break
        node = inner
        words.append(arg)
    return words, list(getattr(node, "commands", {}))


def _in_words(error: Exception) -> str:
    """What the parser complains of, in the language in use."""
    kind, parameter = type(error).__name__, getattr(error, "param", None)
    format_message = getattr(error, "format_message", None)
    said = short(format_message() if format_message else error, 200)
    if kind == "NoSuchOption":
        told = messages.say("usage.no_such_option", name=short(getattr(error, "option_name", said)))
        return f"{told} {_meant(getattr(error, 'possibilities', None) or ())}".strip()
    if kind == "MissingParameter" and parameter is not None:
        return messages.say("usage.missing", name=short(parameter.metavar or parameter.opts[0]))
    for key, pattern in _PARSER.items():
        if found := re.match(pattern, said):
            return messages.say(f"usage.{key}", name=short(found[1]))
    extra = re.match(r"Got unexpected extra arguments? \((.*)\)", said)
    if extra:
        return messages.say("usage.extra", what=short(extra[1]))
    if kind == "BadParameter" and parameter is not None:
        given = re.search(r"'(?P<quoted>.*?)'|(?P<outside>\S+) is not in the range", said.split(":", 1)[-1])
        value = (given["quoted"] or given["outside"]) if given else "-"
        name = max(parameter.opts, key=len)
        return messages.say("usage.bad_value", name=name, value=value, expected=_expected(parameter))
    return said


def _expected(parameter: Any) -> str:
    """`1…10000`, or in words what kind of value it is."""
    low, high = getattr(parameter.type, "min", None), getattr(parameter.type, "max", None)
    if low is not None or high is not None:
        return f"{'' if low is None else f'{low:g}'}…{'' if high is None else f'{high:g}'}"
    known = {"float": "number", "integer": "whole", "integer range": "whole", "float range": "number"}
    return messages.say(f"usage.{known.get(parameter.type.name, 'text')}")


def _tell(code: str, message: str, hint: str, exit_code: int, args: list[str]) -> int:
    message, hint = masked(message), masked(hint)  # whatever it repeats of what was typed
    printing.tell(f"nebula: {message} {hint}".strip())
    if "--json" in args:
        error = {"code": code, "message": message, "hint": hint}
        printing.show_json({"schema": 1, "ok": False, "error": error})
    return exit_code


def _save(error: Exception) -> str:
    """Put the traceback into a file of its own; -> its path, or - where that fails too."""
    import tempfile
    import traceback

    told = masked("".join(traceback.format_exception(error))).encode("utf-8", "backslashreplace")
    try:  # private, new, under a name that nobody can foresee: the folder may be shared, the text quote a memory
        number, path = tempfile.mkstemp(prefix="nebula-report-", suffix=".txt")
        with os.fdopen(number, "wb") as file:
            file.write(told)
    except OSError:
        return "-"
    return path
