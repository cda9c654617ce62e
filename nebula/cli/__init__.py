"""Doors for people: parse, call one operation, show its value. `main` is the only way out.

Every failure leaves here as one line on stderr and an exit code (design, Output): 0 done, 1 nothing found or a check
failed, 2 wrong usage, 3 data, settings or disk, 4 set-up or key missing, 75 locked too long, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from typing import TYPE_CHECKING

from nebula.cli import streams

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
#: New objects between two collections of garbage: what a command defines as it starts is none, and looking costs 8 ms.
YOUNG = 50_000
#: Options whose value names a file, and a file's name may be any bytes.
_PATHS = {
    "--mind",
    "--batch",
    "--rankings",
    "--log",
    "--out",
    "-o",
    "--png",
    "--project",
    "--scene",
    "--from",
    "--key-file",
}
_MANY_THREADS = {"--build", "--batch", "bench", "tune"}


def run() -> None:
    """The installed command: the console's encoding kept, unprintable characters replaced, a closed pipe no error."""
    streams.opened()
    _log_instead(sys.argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if not _MANY_THREADS & set(sys.argv):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting threads costs 70 ms of a short command
    gc.set_threshold(YOUNG)
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = 0
    except OSError as error:
        code = _unwritten(error)
    _leave(code)


def _unwritten(error: OSError) -> int:
    """Tell that stdout takes no more: on stderr alone, whatever was asked for."""
    from nebula.cli import failures
    from nebula.errors import OutputFailed

    return failures.report(OutputFailed(error.strerror or str(error)), [arg for arg in sys.argv if arg == "--debug"])


def _leave(code: int) -> None:
    """End the process. Nothing is left to be closed or written, and taking all modules apart would cost 17 ms."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def _log_instead(argv: Sequence[str]) -> None:
    """With `consolidate --log FILE` all that would be printed goes to the file's end: a scheduler has no console."""
    if "consolidate" in argv and "--log" in argv[:-1]:
        from nebula.mindlib import files

        sys.stdout = sys.stderr = files.log_stream(argv[argv.index("--log") + 1])


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command in process; -> its exit code. Nothing is raised but the OSError of a full or closed stdout."""
    from nebula import messages

    args = list(sys.argv[1:] if argv is None else argv)
    if args[:1] == ["help"]:  # `nebula help subject memory`, as git has it
        args = [*args[1:], "--help"]
    if args[:2] == ["config", "--explain"]:
        args.insert(1, "list")
    language = messages.choose(os.environ)
    messages.use(language)
    if args in (["--version"], ["-V"]):
        from nebula.version import __version__

        sys.stdout.write(f"nebula {__version__}\n")
        return 0
    begun = time.perf_counter()
    try:
        return _run(args, language)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if streams.unwritten(error):
            raise
        from nebula.cli import failures

        return failures.report(error, args)
    finally:
        if "--debug" in args:
            sys.stderr.write(f"{time.perf_counter() - begun:.3f} s\n")


def _run(args: list[str], language: str) -> int:
    from nebula.cli import app
    from nebula.errors import check_unicode

    if "_NEBULA_COMPLETE" in os.environ:
        from nebula.cli import completion

        return completion.run(language)
    for before, arg in zip(["", *args], args, strict=False):
        if before not in _PATHS:
            check_unicode("argument", arg)
    if not args:
        sys.stdout.write(app.fitted(app.overview()) + "\n")
        return 0
    if args[0].partition("=")[0] in {"--install-completion", "--show-completion"}:
        from nebula.cli import shells

        return shells.run(args)
    tree = app.tree_for(language, args)
    if {"-h", "--help"} & set(args):
        app.with_examples("", tree, paged=sys.stdout.isatty() and not {"--no-pager", "--no-color"} & set(args))
    result = tree.main(args=args, prog_name="nebula", standalone_mode=False)
    return result if isinstance(result, int) else 0
