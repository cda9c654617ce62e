"""The command doctor: look, and on the explicit word mend or compare with the chain."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from nebula import messages
from nebula.cli.command import Run, command
from nebula.cli.printing import FIT, Outcome
from nebula.errors import WrongUsage

if TYPE_CHECKING:
    from nebula.cli.printing import Line
    from nebula.repair import Repaired
    from nebula.verify import Verified

MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "bad": ("✗", "red")}
SHOWN = 20  # of a list of lines or refs; JSON has them all


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    command(app, "doctor", anywhere=True)(doctor)


def doctor(
    run: Run,
    *,
    repair: Annotated[bool, typer.Option("--repair")] = False,
    verify: Annotated[bool, typer.Option("--verify")] = False,
    accept: Annotated[bool, typer.Option("--accept")] = False,
) -> Outcome:
    """Six checks, each with the next step; or the repair, or the chain."""
    if (repair and verify) or (accept and not verify):
        raise WrongUsage("doctor [--repair | --verify [--accept]]", "doctor")
    if repair:
        from nebula.repair import repair as mend

        return _repaired(mend(run.mind()))
    if verify:
        from nebula.verify import verify as compare

        return _verified(compare(run.mind(), accept=accept))
    return _examined(run)


def _examined(run: Run) -> Outcome:
    from nebula.doctor import examine

    now = run.now()  # a wrong --now is refused before anything is done
    report = examine(run.place(), run.environ, now=lambda: now)
    lines: list[Line] = []
    for check in report.checks:
        mark, style = MARKS[check.status]
        next_step = [("  → " + check.hint, "dim")] if check.hint else []
        lines.append([(f"{mark} ", style), (check.line, ""), *next_step])
    return Outcome({"ok": report.ok, "checks": [asdict(c) for c in report.checks]}, lines, 0 if report.ok else 1)


def _repaired(done: Repaired) -> Outcome:
    data = {
        "moved": [{"file": d.path.name, "line": d.line, "reason": d.reason} for d in done.moved],
        "newlines": list(done.newlines),
        "closed": list(done.closed),
        "cleared": list(done.cleared),
        "dangling": [{"file": file, "ref": ref} for file, ref in done.dangling],
        "sizes": {
            name: dict(zip(("before", "after", "moved"), sizes, strict=True)) for name, sizes in done.sizes.items()
        },
        "vectors": done.built.present if done.built else None,
    }
    said = [messages.say("repair.moved", file=d.path.name, line=d.line, reason=d.reason) for d in done.moved[:SHOWN]]
    if done.moved:
        said.append(messages.say("repair.quarantine", n=len(done.moved), size=sum(m for *_, m in done.sizes.values())))
    said += [messages.say("repair.newline", file=name) for name in done.newlines]
    if done.closed:
        said.append(messages.say("repair.closed", n=len(done.closed), names=", ".join(done.closed[:SHOWN])))
    said += [messages.say("repair.cleared", path=path) for path in done.cleared]
    said = said or [messages.say("repair.nothing")]
    if done.dangling:
        refs = ", ".join(f"{ref} ({file})" for file, ref in done.dangling[:SHOWN])
        said.append(messages.say("repair.dangling", n=len(done.dangling), refs=refs))
    return Outcome(data, [[(line, FIT)] for line in said])


def _verified(found: Verified) -> Outcome:
    data = {
        "ok": found.ok,
        "head": found.head,
        "held": dict(found.held),
        "fresh": dict(found.fresh),
        "faults": [asdict(fault) for fault in found.faults],
        "broken": list(found.broken),
        "acts": [dict(act) for act in found.acts],
    }
    said = [messages.say(f"verify.{f.what}", file=f.file, line=f.line) for f in found.faults[:SHOWN]]
    said += [messages.say("verify.broken", line=line) for line in found.broken[:SHOWN]]
    if not found.ok:
        said.append(messages.say("verify.next"))
    said += [
        messages.say(f"verify.{act['why']}", at=act["at"], n=sum(act["changed"].values()))
        for act in found.acts
        if act["why"] in {"erase", "repair", "accept"} and isinstance(act["changed"], dict)
    ]
    fresh = sum(found.fresh.values())
    totals = {"old": sum(found.held.values()) - fresh, "fresh": fresh}
    said.append(messages.say("verify.held", **totals, head=found.head[:16] or "-"))
    return Outcome(data, [[(line, FIT)] for line in said], 0 if found.ok else 1, notices=found.notices)
