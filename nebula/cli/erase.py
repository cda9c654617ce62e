"""The one deletion: erase."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli.command import Run, command
from nebula.cli.printing import FIT, Outcome, one_line
from nebula.errors import WrongUsage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nebula.cli.printing import Line
    from nebula.erase import Plan


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    command(app, "erase", anywhere=True)(erase)


def erase(
    run: Run,
    refs: Annotated[list[str] | None, typer.Argument(metavar="[REF…]", show_default=False)] = None,
    *,
    match: Annotated[list[str] | None, typer.Option("--match", metavar="TEXT|-")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
    verify: Annotated[bool, typer.Option("--verify")] = False,
    yes: Annotated[bool, typer.Option("--yes")] = False,
) -> Outcome:
    """Erase memories for good, with everything that quotes them."""
    from nebula import erase as erasing
    from nebula import remains

    mind = run.mind()
    words = [_word(word) for word in match or []]
    if verify:
        if not refs and not words:
            raise WrongUsage("erase --verify REF… | erase --verify --match TEXT", "nothing_named")
        texts = [mind.get(ref).text for ref in refs or []]
        return _found(remains.left(mind, (), [*texts, *words]))
    plan = erasing.plan(mind, refs or [], words)
    if not plan.memories and not remains.left(mind, (), words):
        return Outcome({"dry_run": dry_run, **_data(plan), "left": {}}, [[(messages.say("erase.nothing"), "")]], 1)
    if dry_run:
        return Outcome({"dry_run": True, **_data(plan)}, _lines(plan))
    if not yes:
        _ask(plan, [*(refs or []), *(["--match …"] if words else [])])
    done = erasing.erase(mind, plan)
    return Outcome(
        {
            "dry_run": False,
            **_data(plan),
            "left": dict(done.left),
            "short": dict(done.short),
            "subjects_searched": False,
        },
        [*_lines(plan), *_found(done.left, done.short).lines],
        1 if done.left or done.short else 0,
        notices=done.notices,
    )


def _word(word: str) -> str:
    """What to look for; from standard input it stands in no shell's history."""
    from nebula.cli.remember import given_text

    return given_text("-") if word == "-" else word


def _ask(plan: Plan, given: list[str]) -> None:
    if not sys.stdin.isatty():
        raise WrongUsage(f"erase {' '.join(given)} --yes", "unasked")
    for line in _lines(plan):
        typer.echo("".join(part for part, _ in line), err=True)
    typer.confirm(messages.say("erase.confirm"), abort=True, err=True)


def _data(plan: Plan) -> dict[str, Any]:
    return {"erased": [{"ref": memory.ref, "why": why} for memory, why in plan.memories], "near": list(plan.near)}


def _lines(plan: Plan) -> list[Line]:
    lines: list[Line] = [
        [(f"{memory.ref:<5}", "bold"), (f" {messages.say(f'erase.{why}')}  ", "dim"), (one_line(memory.text, 60), FIT)]
        for memory, why in plan.memories
    ]
    if plan.near:
        lines.append([(messages.say("erase.near", refs=one_line(" ".join(plan.near), 200)), "")])
    return lines


def _found(left: Mapping[str, int], short: Mapping[str, int] | None = None) -> Outcome:
    said = [messages.say("erase.left", n=sum(left.values()), files=", ".join(left))] if left else []
    if short:
        said.append(messages.say("erase.short", n=sum(short.values()), files=", ".join(short)))
    lines = [(text, "") for text in said or [messages.say("erase.none")]]
    lines.append((messages.say("erase.subjects"), "dim"))
    return Outcome(
        {"left": dict(left), "places": sum(left.values()), "subjects_searched": False},
        [[line] for line in lines],
        1 if left else 0,
    )
