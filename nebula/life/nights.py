"""What the ledger of changes says of earlier nights: their runs, their closing lines, whom each nominated. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

NIGHT_RUN = "night-"  # how the run of a night begins, before its time


@dataclass(frozen=True)
class Night:
    """A night that was finished: its run, when it was, whom it nominated, and the summary it wrote."""

    run: str
    at: str
    nominated: str = ""
    summary: str = ""


def finished(lines: Iterable[Mapping[str, Any]], undone: Collection[str]) -> list[Night]:
    """The nights that ended with their closing line and were not taken back, in file order."""
    return [night for line in lines if (night := closed(line, undone)) is not None]


def closed(line: Mapping[str, Any], undone: Collection[str]) -> Night | None:
    """The night that a line closes; None where it closes none, or one that was taken back."""
    run, told = line.get("run"), line.get("night")
    if not isinstance(run, str) or not isinstance(told, dict) or run in undone:
        return None
    return Night(run, str(line.get("at", "")), str(told.get("nominated", "")), str(told.get("summary", "")))


def closing_line(at: str, run: str, nominated: str, summary: str) -> dict[str, Any]:
    """The last line of a night: without it the night was cut short and is finished by the next run."""
    return {"at": at, "run": run, "night": {"nominated": nominated, "summary": summary}}


def unfinished(lines: Iterable[Mapping[str, Any]], undone: Collection[str]) -> str:
    """The run of a night that was cut short after the last one that ended; "" where there is none."""
    run = ""
    for line in lines:
        if closed(line, undone):
            run = ""
        elif is_night(line.get("run")) and line["run"] not in undone:
            run = line["run"]
    return run


def is_night(run: object) -> bool:
    """Whether a run is a night's, not a command's."""
    return isinstance(run, str) and run.startswith(NIGHT_RUN)
