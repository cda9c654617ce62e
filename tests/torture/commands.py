"""`python -m tests.torture.commands`: the commands that stand on standard input, a line each, in one process.

After one that exits otherwise than 0 it prints `exit` and the code.
"""

from __future__ import annotations

import io
import shlex
import sys

from nebula.cli import main

if __name__ == "__main__":
    for line in sys.stdin.buffer.read().decode().splitlines():
        sys.stdin = io.TextIOWrapper(io.BytesIO("新的\n".encode()), encoding="utf-8")
        code = main(shlex.split(line))
        sys.stdout.flush()
        if code:
            print("exit", code, flush=True)  # noqa: T201
