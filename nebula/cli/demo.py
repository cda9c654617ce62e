"""The command demo: add, recall and explain in a throw-away mind."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebula import messages
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.cli.recall import hit_lines, hit_object

if TYPE_CHECKING:
    import typer

    from nebula.cli.printing import Line


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    command(app, "demo")(demo)


def demo(run: Run) -> Outcome:
    """Show what nebula does, in a mind that is thrown away."""
    from nebula.demo import OWN, QUERIES, prepare

    lines: list[Line] = []
    asked: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="nebula-demo-") as folder:
        mind = prepare(Path(folder) / "mind", run.now())
        total = mind.list(n=0).total
        lines.append([(messages.say("demo.start", n=total), "")])
        added = mind.add(OWN, tag="猫", by="demo")
        lines += [_typed(f'nebula add "{OWN}" --tag 猫'), [(added.memories[0].ref, "")]]
        for kind, query in QUERIES.items():
            explain = kind == "explain"
            found = mind.recall(query, n=2, explain=explain)
            asked[query] = [hit_object(hit) for hit in found.hits]
            lines += [[("", "")], [(messages.say(f"demo.{kind}"), "")]]
            lines.append(_typed(f'nebula recall "{query}" -n 2{" --explain" if explain else ""}'))
            lines += [line for hit in found.hits for line in hit_lines(hit, explain=explain)]
    lines += [[("", "")], [(messages.say("demo.end"), "")]]
    return Outcome({"memories": total + 1, "recalled": asked}, lines)


def _typed(command_line: str) -> Line:
    return [(f"$ {command_line}", "bold")]
