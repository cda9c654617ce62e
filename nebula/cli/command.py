"""From a plain function to a command: the shared options are added to its signature, its outcome is shown.

A command's body takes a `Run` and its own options, calls one operation, and returns an `Outcome`.
"""

from __future__ import annotations

import inspect
import os
import sys
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from nebula import clock, places
from nebula.cli import completion, options, printing, terminal
from nebula.errors import BadValue, NotOnPostgres, WrongUsage
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from nebula.cli.printing import Outcome
    from nebula.mind import Mind
    from nebula.places import Place

NOW = ("now", "现在")
#: Shared by all commands: name -> (annotation, default).
SHARED: Mapping[str, tuple[Any, Any]] = {
    "json": (options.Json, False),
    "mind": (options.MindDir, None),
    "now": (options.Now, ""),
    "quiet": (options.Quiet, False),
    "debug": (options.Debug, False),
    "no_color": (options.NoColor, False),
    "no_pager": (options.NoPager, False),
    "lock_timeout": (options.LockTimeout, 10.0),
}


@dataclass(frozen=True)
class Run:
    """One call of a command: the shared options, and the mind that they name."""

    json: bool
    mind_dir: str | None
    now_text: str
    quiet: bool
    debug: bool
    no_color: bool
    no_pager: bool
    lock_timeout: float
    anywhere: bool = False  # whether the command works on a mind in a database, too

    @property
    def environ(self) -> Mapping[str, str]:
        """The process's environment."""
        return os.environ

    def place(self) -> Place:
        """Where the mind lies, and which rule decided. Raises NotOnPostgres for a command that needs a folder."""
        place = places.decide(self.environ, self.mind_dir)
        if place.address and not self.anywhere:
            raise NotOnPostgres(place.address)
        return place

    def now(self) -> datetime:
        """The time of this run: --now, NEBULA_NOW, or the clock."""
        return clock.read("--now", self.now_text) if self.now_text else clock.now()

    def moment(self, name: str, text: str, *, end: bool = False) -> datetime | None:
        """A time as people write it, the past meant where it could be either; None for "". Raises BadValue.

        `end`: the last second that it covers (`昨天` ends at 23:59:59), else the first.
        """
        from datetime import timedelta

        if not text:
            return None
        if text.strip().lower() in NOW:
            return self.now()
        exact = clock.parse(text)
        if exact is not None:
            exact = clock.localised(text, exact)
            return clock.end_of(text, exact) if end else exact
        from nebula.text import dates

        span = dates.parse(text, self.now(), prefer="past")
        if span is None:
            raise BadValue(name, text, "2026-05-01 / 2026-05-01T09:00:00 / 昨天 / last May")
        return span.end - timedelta(seconds=1) if end and span.granularity not in {"minute", "hour"} else span.start

    def mind(self, overrides: Mapping[str, object] | None = None) -> Mind:
        """The mind, opened. Raises SettingsUnusable."""
        from nebula.mind import Mind

        self.now()  # a wrong --now is refused before anything is done
        mind = Mind(self.place().mind, overrides=overrides, now=self.now, lock_timeout=self.lock_timeout)
        if not self.quiet:
            printing.show_notices(mind.notices)
        return mind

    @property
    def colour(self) -> bool:
        """Whether stdout is to be coloured."""
        return printing.wants_colour(sys.stdout, self.environ, no_color=self.no_color)

    def named(self, value: Any) -> Any:
        """A ref or refs as the mind knows them, handles of the last list resolved. Raises BadHandle."""
        from nebula import handles

        def one(text: str) -> str:
            if not handles.is_handle(text):
                return text
            return handles.resolve(self.place().folder, terminal.session(self.environ), text, self.now())

        return [one(text) for text in value] if isinstance(value, list) else one(value)

    def _number(self, refs: Sequence[str], command: str) -> None:
        from nebula import handles

        handles.remember(self.place().folder, terminal.session(self.environ), command, self.now(), refs)

    def show(self, outcome: Outcome, command: str = "") -> int:
        """Print an outcome; -> the exit code."""
        if outcome.refs is not None:
            self._number(outcome.refs, command)
        if not self.quiet:
            printing.show_notices(outcome.notices)
        if outcome.rows is not None:
            printing.show_jsonl(outcome.rows)
        elif self.json:
            printing.show_json({"schema": 1, "ok": True, "data": outcome.data})
        elif outcome.null:
            printing.show_null(outcome.lines)
        else:
            pager = printing.pager(self.environ) if outcome.long and not (self.no_pager or self.no_color) else []
            printing.show_lines(outcome.lines, colour=self.colour, pager=pager, verbatim=outcome.verbatim)
            if not self.quiet and sys.stderr.isatty():
                for hint in outcome.hints:
                    printing.tell(hint)
        return outcome.code


def command(
    app: typer.Typer, name: str, *, anywhere: bool = False
) -> Callable[[Callable[..., Outcome]], Callable[..., Outcome]]:
    """Register a body `(run, own options) -> Outcome` as a command of that name.

    `anywhere`: it works on a mind in PostgreSQL as it does on a folder; any other refuses such a mind.
    """

    def register(body: Callable[..., Outcome]) -> Callable[..., Outcome]:
        def door(**values: Any) -> None:
            run = Run(*[*(values.pop(shared) for shared in SHARED), anywhere])
            _one_form(name, {"--json": run.json, "--jsonl": values.get("jsonl"), "--null": values.get("null")})
            values |= {ref: run.named(values[ref]) for ref in _refs(door) if values[ref]}
            raise typer.Exit(run.show(body(run, **values), name))

        app.command(name)(_signed(door, body))
        return body

    return register


def _one_form(name: str, asked: Mapping[str, bool | None]) -> None:
    """Output has one form. Raises WrongUsage where two are asked for."""
    these = [option for option, on in asked.items() if on]
    if len(these) > 1:
        raise WrongUsage(f"{name} [{' | '.join(these)}]", "together", these=" ".join(these))


def _refs(door: Callable[..., None]) -> list[str]:
    """The parameters of a command that take refs, by their metavar: there a handle may stand."""
    return [
        name
        for name, hint in door.__annotations__.items()
        if any("REF" in str(getattr(extra, "metavar", "")) for extra in getattr(hint, "__metadata__", ()))
    ]


def bare(group: typer.Typer, *, anywhere: bool = False) -> Callable[[Callable[..., Outcome]], Callable[..., Outcome]]:
    """Register a body `(run) -> Outcome` as what a group does when no command of it is named."""

    def register(body: Callable[..., Outcome]) -> Callable[..., Outcome]:
        def door(context: typer.Context, **values: Any) -> None:
            if context.invoked_subcommand is None:
                raise typer.Exit(run_of(values).show(body(run_of(values))))

        def run_of(values: dict[str, Any]) -> Run:
            return Run(*[*(values[shared] for shared in SHARED), anywhere])

        group.callback(invoke_without_command=True)(_signed(door, body, context=typer.Context))
        return body

    return register


def _signed(door: Callable[..., None], body: Callable[..., Outcome], **before: Any) -> Callable[..., None]:
    """The door with the signature that typer reads: what comes before, the body's own options, the shared ones."""
    hints = get_type_hints(body, include_extras=True)
    kinds = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, kinds, annotation=annotation) for name, annotation in before.items()]
    own = list(inspect.signature(body).parameters.values())[1:]
    for parameter in own:
        completion.attach(hints[parameter.name])
    parameters += [p.replace(kind=kinds, annotation=hints[p.name]) for p in own]
    parameters += [
        inspect.Parameter(shared, kinds, default=default, annotation=annotation)
        for shared, (annotation, default) in SHARED.items()
    ]
    door.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    door.__annotations__ = {p.name: p.annotation for p in parameters}
    door.__name__ = body.__name__
    return door


def overrides(profile: str, values: list[str] | None) -> dict[str, object]:
    """--profile and --set KEY=VALUE as dotted settings; a value reads as JSON, else as text."""
    found: dict[str, object] = {"profile": profile} if profile else {}
    for item in values or []:
        key, equals, text = item.partition("=")
        if not equals:
            raise BadValue("--set", item, "KEY=VALUE")
        found[key.strip()] = json_or_text(text.strip())
    return found


def json_or_text(text: str) -> object:
    """`3`, `true`, `[1, 2]` as JSON; anything else as it stands."""
    import orjson

    try:
        value: object = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value
