"""A progress bar for long work: on a terminal only, and only when the work takes a moment."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from nebula import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

    from nebula.cli.command import Run

AFTER = 0.5  # seconds of work before a bar is drawn


@contextmanager
def bar(run: Run, what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a `(done, of)` callback that draws on stderr; None where nobody would see it."""
    if run.quiet or not sys.stderr.isatty():
        yield None
        return
    begun = time.monotonic()
    with ExitStack() as until_done:
        drawn: list[tuple[Progress, TaskID]] = []

        def advance(done: int, of: int) -> None:
            if not drawn and time.monotonic() - begun >= AFTER:
                from rich.console import Console
                from rich.progress import Progress

                shown = until_done.enter_context(Progress(console=Console(stderr=True), transient=True))
                drawn.append((shown, shown.add_task(what)))
            for shown, task in drawn:
                shown.update(task, completed=done, total=of)

        yield advance


@contextmanager
def embedding(run: Run) -> Iterator[Callable[[int, int], None] | None]:
    """A bar for making vectors, which may take minutes; who breaks it off is told what stays."""
    try:
        with bar(run, messages.say("progress.embedding")) as advance:
            yield advance
    except KeyboardInterrupt:
        if not run.quiet:
            sys.stderr.write(messages.say("progress.broken_off") + "\n")
        raise
