"""Settings from the command line: config get, set, unset, list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula.cli.command import Run, command, json_or_text
from nebula.cli.printing import Outcome, one_line

if TYPE_CHECKING:
    from nebula.cli.printing import Line
    from nebula.results import Setting


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="config")
    command(group, "get", anywhere=True)(get)
    command(group, "set", anywhere=True)(set_)
    command(group, "unset", anywhere=True)(unset)
    command(group, "list", anywhere=True)(list_)


Key = Annotated[str, typer.Argument(metavar="KEY")]


def get(run: Run, key: Key) -> Outcome:
    """One setting's value."""
    settings = {setting.key: setting for setting in run.mind().config()}
    if key not in settings:
        from nebula.settings import unknown

        raise unknown(key)
    return Outcome(_object(settings[key]), [[(_value(settings[key].value), "")]])


def set_(run: Run, key: Key, value: Annotated[str, typer.Argument(metavar="VALUE")]) -> Outcome:
    """Set a key in the mind's mind-config.json."""
    return _changed(run.mind().configure(key, json_or_text(value)))


def unset(run: Run, key: Key) -> Outcome:
    """Remove a key from the mind's mind-config.json."""
    return _changed(run.mind().configure(key, None))


def list_(run: Run, explain: Annotated[bool, typer.Option("--explain")] = False) -> Outcome:
    """Every setting; with --explain also where its value came from and what it takes."""
    settings = run.mind().config()
    return Outcome({"settings": [_object(s) for s in settings]}, [_line(s, explain=explain) for s in settings])


def _changed(setting: Setting) -> Outcome:
    return Outcome(_object(setting), [_line(setting, explain=False)])


def _object(setting: Setting) -> dict[str, Any]:
    return {"key": setting.key, "value": setting.value, "origin": setting.origin, "expected": setting.expected}


def _value(value: object) -> str:
    import orjson

    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _line(setting: Setting, *, explain: bool) -> Line:
    head: Line = [(setting.key, "bold"), (f" = {one_line(_value(setting.value))}", "")]
    return [*head, (f"  [{setting.origin}] {setting.expected}", "dim")] if explain else head
