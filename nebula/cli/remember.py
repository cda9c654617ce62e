"""Commands that write: add, pin, unpin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import clock, messages, reasons
from nebula.cli import progress
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.errors import BadValue, EmptyText, FileUnusable, WrongUsage

if TYPE_CHECKING:
    from nebula.mindlib.record import Memory


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    command(app, "add", anywhere=True)(add)
    command(app, "pin", anywhere=True)(pin)
    command(app, "unpin", anywhere=True)(unpin)


def add(
    run: Run,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT|-]", show_default=False)] = None,
    *,
    batch: Annotated[Path | None, typer.Option("--batch", metavar="FILE.jsonl")] = None,
    ledger: Annotated[str, typer.Option("-l", "--ledger", metavar="LEDGER")] = "notes",
    at: Annotated[str | None, typer.Option("--at", metavar="TIME")] = None,
    via: Annotated[str | None, typer.Option("--via", metavar="VIA")] = None,
    tag: Annotated[str | None, typer.Option("--tag", metavar="TAG")] = None,
    imp: Annotated[float | None, typer.Option("--imp", metavar="0…1")] = None,
    e: Annotated[float | None, typer.Option("--e", metavar="0…1")] = None,
    emo: Annotated[str | None, typer.Option("--emo", metavar="EMOTION")] = None,
    pinned: Annotated[bool, typer.Option("--pinned")] = False,
    supersedes: Annotated[str | None, typer.Option("--supersedes", metavar="REF")] = None,
    due: Annotated[str | None, typer.Option("--due", metavar="TIME")] = None,
    topic: Annotated[str | None, typer.Option("--topic", metavar="TEXT")] = None,
    say: Annotated[str | None, typer.Option("--say", metavar="HOW")] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID")] = None,
    turn: Annotated[int | None, typer.Option("--turn", metavar="N")] = None,
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME")] = None,
    time: Annotated[str | None, typer.Option("--time", metavar="TEXT")] = None,
    redact: Annotated[bool, typer.Option("--redact")] = False,
    echo: Annotated[str, typer.Option("--echo", metavar="mark|refuse|off", show_default=False)] = "",
) -> Outcome:
    """Write one memory, or many from a file."""
    moment = run.moment("--at", at or "")
    fields = {
        "at": clock.write(moment) if moment else None,
        "via": via, "tag": tag, "imp": imp, "e": e, "emo": emo, "due": due, "topic": topic, "say": say,
        "session": session, "turn": turn, "speaker": speaker, "time": time, "pinned": pinned or None,
        "supersedes": supersedes,
    }  # fmt: skip
    if batch is not None and (text is not None or supersedes is not None):
        raise WrongUsage(
            "add [--supersedes REF] TEXT | add --batch FILE.jsonl", "together", these="--batch TEXT --supersedes"
        )
    mind = run.mind({"privacy.secrets": "redact"} if redact else None)
    if batch is not None:
        objects = [{**{k: v for k, v in fields.items() if v is not None}, **obj} for obj in _objects(batch)]
        with progress.embedding(run) as advance:
            added = mind.add_many(objects, ledger=ledger, echo=echo, progress=advance)
    else:
        added = mind.add(given_text(text), ledger=ledger, by="cli", echo=echo, **fields)
    return Outcome(
        {"memories": [shown(memory) for memory in added.memories]},
        [[(memory.ref, "bold")] for memory in added.memories],
        notices=added.notices,
        hints=[messages.say("hint.after_add", ref=added.memories[0].ref)] if added.memories else [],
    )


def shown(memory: Memory) -> dict[str, Any]:
    """A memory as JSON shows it: its ref and ledger, then its record."""
    from nebula.mindlib.record import to_object

    return {"ref": memory.ref, "ledger": memory.ledger, **to_object(memory)}


def given_text(given: str | None) -> str:
    """The argument; standard input where it is `-`, or where it is missing and something is piped in."""
    if given not in {None, "-"}:
        return str(given)
    if given is None and sys.stdin.isatty():
        raise EmptyText
    try:
        return piped().decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise BadValue("stdin", reasons.of(error), "UTF-8") from error


def piped() -> bytes:
    """Standard input to its end. Raises FileUnusable where it has none."""
    from nebula.mindlib import files

    return files.read_given(Path("-"))


def _objects(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file; `-` is standard input. Raises FileUnusable with the line."""
    from nebula.mindlib import files, ledger

    data = files.read_given(path)
    found = ledger.scan(path, data)
    if found.damages:
        damage = found.damages[0]
        raise FileUnusable(path, f"{messages.say('word.line')} {damage.line}: {damage.reason}")
    return [line.obj for line in found.lines]


def _pin(run: Run, refs: list[str], *, pinned: bool) -> Outcome:
    from nebula import amend

    changed = amend.change(run.mind(), refs, {"pinned": pinned}, "pin" if pinned else "unpin").memories
    return Outcome({"memories": [shown(memory) for memory in changed]}, [[(memory.ref, "bold")] for memory in changed])


def pin(run: Run, refs: Annotated[list[str], typer.Argument(metavar="REF…")]) -> Outcome:
    """Make memories fixed stars."""
    return _pin(run, refs, pinned=True)


def unpin(run: Run, refs: Annotated[list[str], typer.Argument(metavar="REF…")]) -> Outcome:
    """Let fixed stars go again."""
    return _pin(run, refs, pinned=False)
