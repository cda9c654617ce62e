"""Commands for a mind's store: store migrate, store copy, store verify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nebula import messages, places
from nebula.address import Address, is_address
from nebula.cli import progress
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.errors import BadValue

if TYPE_CHECKING:
    from nebula.cli.printing import Line
    from nebula.mind import Mind

Store = Annotated[str, typer.Argument(metavar="DIR|URL")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="store")
    command(group, "migrate", anywhere=True)(migrate)
    command(group, "copy", anywhere=True)(copy)
    command(group, "verify", anywhere=True)(verify)


def migrate(
    run: Run,
    url: Annotated[str, typer.Argument(metavar="URL")],
    *,
    role: Annotated[str, typer.Option("--role", metavar="NAME")] = "",
) -> Outcome:
    """Make a mind's tables in a database, or bring them up to this version."""
    from nebula.postgres import schema

    if not is_address(url):
        raise BadValue("URL", url, "postgresql://OWNER@HOST/DATABASE")
    done = schema.migrate(Address(url), run.lock_timeout, role)
    data = {"address": str(Address(url)), **vars(done)}
    lines: list[Line] = [[(messages.say("store.migrated", **{**data, "role": role or "-"}), "")]]
    lines += [[(messages.say(f"store.lacks_{done.lacks}"), "")]] if done.lacks else []
    return Outcome(data, lines)


def copy(run: Run, source: Store, target: Store) -> Outcome:
    """Copy a mind from one store into another, as it lies there."""
    from nebula import stores

    with progress.bar(run, messages.say("progress.copying")) as advance:
        done = stores.copy(_mind(run, source), _mind(run, target), advance)
    lines = sum(done.lines.values())
    said = messages.say("store.copied", lines=lines, here=done.here, documents=" ".join(done.documents) or "-")
    data = {"lines": dict(done.lines), "here": done.here, "documents": list(done.documents), "vectors": done.vectors}
    return Outcome(data, [[(said, "")]])


def verify(
    run: Run,
    source: Store,
    target: Store,
    *,
    samples: Annotated[int, typer.Option("--samples", metavar="N", min=0, max=10_000)] = 20,
) -> Outcome:
    """Whether two stores hold the same mind."""
    from nebula import stores

    with progress.embedding(run) as advance:
        found = stores.compare(_mind(run, source), _mind(run, target), samples, advance)
    lines: list[Line] = [
        [(f"{name}  {mine} {'=' if mine == theirs else '≠'} {theirs}", "")]
        for name, (mine, theirs) in found.lines.items()
    ]
    lines += [[(messages.say("store.differs", name=name), "red")] for name in found.differing]
    if found.samples:
        lines.append([(messages.say("store.samples", same=found.same, samples=found.samples), "")])
    data = {
        "equal": found.equal,
        "lines": {name: list(counts) for name, counts in found.lines.items()},
        "differing": list(found.differing),
        "samples": found.samples,
        "same": found.same,
    }
    return Outcome(data, lines, 0 if found.equal else 1)


def _mind(run: Run, where: str) -> Mind:
    from nebula.mind import Mind

    return Mind(places.named(where, "--mind").mind, now=run.now, lock_timeout=run.lock_timeout)
