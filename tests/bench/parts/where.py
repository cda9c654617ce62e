"""Where the time of a cold recall goes, by parts, each without the parts inside it.

A child process has a clock around each part; what else it does until its end is `everything else`. Nothing is imported
here but what the child may pay for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tests.bench.parts.timing import Row

_CHILD = "import sys; from tests.bench.parts import where; where.child(*sys.argv[1:])"
#: What is around which functions: (module, class or "", names).
CLOCKS: Mapping[str, Sequence[tuple[str, str, Sequence[str]]]] = {
    "the query: terms, dates, feeling": [
        ("nebula.recall.asking", "", ("asked", "names", "windows", "only_dates")),
        ("nebula.mood.lexicon", "", ("feels",)),
    ],
    "the query: weights, vocabulary, vectors": [("nebula.recalling", "", ("probe_of",))],
    "opening the index": [("nebula.mind", "Mind", ("open_index",))],
    "lexical route": [("nebula.recall.mapped", "MappedSearch", ("lexical",))],
    "dense route": [("nebula.recall.mapped", "MappedSearch", ("dense",))],
    "the floor": [("nebula.calibration", "", ("judge",))],
}
BEFORE = ("Python and its site", "numpy, typer", "own modules, the command's options")
REST = "everything else"


def rows(folder: Path, sizes: Sequence[int], rounds: int) -> Iterator[Row]:
    """Milliseconds of each part, all sizes in the same rounds; a round before the first warms up."""
    from tests.bench.parts import minds
    from tests.bench.parts.timing import Row, compiled

    compiled()
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "NEBULA_NOW": minds.NOW.isoformat()}
    places = {size: str(minds.mind(folder, size)) for size in sizes}
    taken: dict[tuple[str, int], list[float]] = {}
    for turn in range(rounds + 1):
        for size, place in places.items():
            command = [sys.executable, "-c", _CHILD, place, minds.QUERIES[0], str(time.time())]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
            for part, seconds in json.loads(done.stderr.splitlines()[-1]).items():
                if turn:
                    taken.setdefault((part, size), []).append(1000 * seconds)
    for (part, size), values in taken.items():
        yield Row(f"of a cold `recall`, {size:,}: {part}", values)


def child(mind: str, query: str, started: str) -> None:
    """A recall in this process, which was `started` at that time; its parts' seconds as JSON on standard error."""
    spent = dict.fromkeys((*BEFORE, *CLOCKS, REST), 0.0)
    spent[BEFORE[0]] = time.time() - float(started)
    inside = [BEFORE[1]]
    last = time.perf_counter()

    def switch() -> None:
        """Charge the time since the last switch to the part that is running."""
        nonlocal last
        now = time.perf_counter()
        spent[inside[-1]] += now - last
        last = now

    def clocked(function: Callable[..., Any], part: str) -> Callable[..., Any]:
        def around(*args: Any, **options: Any) -> Any:
            switch()
            inside.append(part)
            try:
                return function(*args, **options)
            finally:
                switch()
                inside.pop()

        return around

    import numpy as np  # noqa: F401 - its time is what is wanted
    import typer  # noqa: F401

    switch()
    inside[0] = BEFORE[2]
    from importlib import import_module

    for part, functions in CLOCKS.items():
        for module, holder, names in functions:
            owner = getattr(import_module(module), holder) if holder else import_module(module)
            for name in names:
                setattr(owner, name, clocked(getattr(owner, name), part))
    from nebula.cli import main
    from nebula.mind import Mind

    recall = Mind.recall

    def begun(*args: Any, **options: Any) -> Any:
        switch()
        inside[0] = REST
        return recall(*args, **options)

    Mind.recall = begun  # type: ignore[method-assign]
    main(["recall", "--nearest", query, "--mind", mind])
    switch()
    sys.stderr.write("\n" + json.dumps(spent) + "\n")
