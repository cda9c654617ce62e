"""A progress bar for long work: on a terminal only, and only when the work takes a moment."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nebula.cli.command import Run


@contextmanager
def bar(run: Run, what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a `(done, of)` callback that draws on stderr; None where nobody would see it."""
    if run.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(what, total=None)
        yield lambda done, of: drawn.update(task, completed=done, total=of)
