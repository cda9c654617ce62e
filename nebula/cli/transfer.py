"""Commands by which a mind comes and goes: import, export, merge, mind move."""

from __future__ import annotations

import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli import progress
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.errors import BadValue, WrongUsage
from nebula.results import Notice

if TYPE_CHECKING:
    from nebula.cli.printing import Line
    from nebula.transfer import Imported

Source = Annotated[Path, typer.Argument(metavar="DIR|FILE|-")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    command(app, "import", anywhere=True)(import_)
    command(app, "export", anywhere=True)(export)
    command(app, "merge", anywhere=True)(merge)
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="mind")
    command(group, "move")(move)


def import_(
    run: Run,
    source: Source,
    *,
    from_: Annotated[str, typer.Option("--from", metavar="FORMAT")] = "",
    ledger: Annotated[str, typer.Option("-l", "--ledger", metavar="LEDGER")] = "",
    replies: Annotated[bool, typer.Option("--replies")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
) -> Outcome:
    """Take over another mind's folder or an exported file, or what another program kept; twice is once."""
    if from_:
        return _import_foreign(run, source, from_, ledger, replies=replies, dry_run=dry_run)
    if ledger or replies:
        raise WrongUsage("import FILE --from FORMAT", "needs", this="--ledger, --replies", that="--from FORMAT")
    from nebula import export as exporting
    from nebula import transfer

    with progress.embedding(run) as advance:
        take = transfer.import_folder if source.is_dir() else exporting.import_file
        found = take(run.mind(), source, dry_run=dry_run, progress=advance)
    notices = [*_nothing(found, source), *_notices(found)]
    return Outcome(_data(found, dry_run=dry_run), _lines(found, dry_run=dry_run), notices=notices)


def _import_foreign(run: Run, source: Path, kind: str, ledger: str, *, replies: bool, dry_run: bool) -> Outcome:
    from nebula.importers import FORMATS, taking

    if kind not in FORMATS:
        raise BadValue("--from", kind, " | ".join(FORMATS))
    with progress.embedding(run) as advance:
        found = taking.take(
            run.mind(), source, kind, ledger=ledger or "notes", replies=replies, dry_run=dry_run, progress=advance
        )
    counts = {name: getattr(found, name) for name in ("added", "newer", "here", "erased", "private")}
    damages = [f"{one.where}: {one.why}" for one in found.damages]
    said = [messages.say("import.foreign_would" if dry_run else "import.foreign", **counts)]
    said += [
        messages.say("import.passed", n=n, why=messages.say(f"passed.{why.replace(' ', '_')}"))
        for why, n in found.passed.items()
    ]
    if found.erased:
        said.append(messages.say("import.erased", n=found.erased))
    if found.gone:
        said.append(messages.say("import.gone", n=len(found.gone), refs=" ".join(found.gone)))
    damaged = [Notice("import_damaged", {"n": len(damages), "where": "; ".join(damages[:5])})] if damages else []
    if not (any(counts.values()) or found.passed or damages):
        damaged = [Notice("no_memories_there", {"place": source})]
    data = {"from": kind, "dry_run": dry_run, **counts, "passed": dict(found.passed), "damages": damages}
    return Outcome(
        {**data, "gone": list(found.gone)}, [[(line, "")] for line in said], notices=[*damaged, *found.notices]
    )


def export(
    run: Run,
    target: Annotated[str, typer.Argument(metavar="FILE|-")] = "-",
    *,
    as_zip: Annotated[bool, typer.Option("--zip")] = False,
) -> Outcome:
    """The whole mind as one file, without what is derived."""
    from nebula import export as exporting
    from nebula.mindlib import files

    mind = run.mind()
    data = exporting.pack(mind, as_zip=as_zip or target.endswith(".zip"))
    nothing = [Notice("no_memories_here", {"place": mind.place})] if exporting.is_empty(mind) else []
    if target == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return Outcome(None, rows=(), notices=nothing)
    files.replace(Path(target), data)
    said = messages.say("export.done", file=target, size=f"{len(data) / 1024:.1f}KB")
    return Outcome({"file": target, "bytes": len(data)}, [[(said, "")]], notices=nothing)


def merge(run: Run, source: Source) -> Outcome:
    """The union with another machine's mind, a folder or an exported file."""
    from nebula import export as exporting
    from nebula import merge as merging

    opened = contextlib.nullcontext(source) if source.is_dir() else exporting.unpacked(source)
    with progress.embedding(run) as advance, opened as folder:
        found = merging.merge(run.mind(), folder, progress=advance)
    came = found.imported
    lines = _lines(came, dry_run=False)
    if found.settled:
        lines.append([(messages.say("merge.settled", n=found.settled), "")])
    if found.notes_kept or found.notes_taken:
        lines.append([(messages.say("merge.notes_taken" if found.notes_taken else "merge.notes"), "")])
    notes = {"notes_kept": found.notes_kept, "notes_taken": found.notes_taken}
    data = {**_data(came, dry_run=False), "settled": found.settled, **notes}
    damaged = _notices(came)[: len(came.damages) > 0]
    return Outcome(data, lines, notices=[*_nothing(came, source), *damaged, *found.notices])


def move(run: Run, target: Annotated[Path, typer.Argument(metavar="DIR")]) -> Outcome:
    """Move the mind's folder."""
    from nebula import relocate

    done = relocate.move(run.mind(), target)
    said = messages.say("move.done", count=done.count, source=done.source, target=done.target)
    told = messages.say("move.next", target=shlex.quote(str(done.target)))
    data = {"from": str(done.source), "to": str(done.target), "files": done.count, "bytes": done.size}
    return Outcome(data, [[(said, "")], [(told, "")]])


def _nothing(found: Imported, source: Path) -> list[Notice]:
    """A notice where there was no memory to take over."""
    there = found.here or found.erased or found.damages or any(found.records.values())
    return [] if there else [Notice("no_memories_there", {"place": source})]


def _data(found: Imported, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "records": dict(found.records),
        "here": found.here,
        "lines": dict(found.lines),
        "damages": [f"{damage.path.name}:{damage.line}" for damage in found.damages],
        "longterm": found.longterm,
        "settings": found.settings,
        "vectors": found.vectors,
        "erased": found.erased,
    }


def _notices(found: Imported) -> list[Notice]:
    where = [f"{damage.path.name}:{damage.line}" for damage in found.damages]
    damaged = [Notice("damaged_lines", {"n": len(where), "where": ", ".join(where[:5])})] if where else []
    return [*damaged, *found.notices]


def _lines(found: Imported, *, dry_run: bool) -> list[Line]:
    from nebula.mindlib.record import BY_NAME

    records = "  ".join(f"{BY_NAME[kind].chinese} {count}" for kind, count in found.records.items()) or "0"
    said = [messages.say("import.would" if dry_run else "import.done", records=records, here=found.here)]
    if found.lines:
        said.append("  ".join(f"{name} {count}" for name, count in found.lines.items()))
    if found.vectors:
        said.append(messages.say("import.vectors", n=found.vectors))
    if found.erased:
        said.append(messages.say("import.erased", n=found.erased))
    said += [
        f"{name}: {messages.say(f'import.{state}')}"
        for name, state in (("longterm.md", found.longterm), ("mind-config.json", found.settings))
        if state != "absent"
    ]
    return [[(line, "")] for line in said]
