"""Whose vectors serve the subjects: subject endpoint set, show, test."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation when it builds the command
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli import options  # noqa: TC001 - typer reads the annotation when it builds the command
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.cli.remember import given_text
from nebula.cli.subject import project_of
from nebula.errors import BadValue

if TYPE_CHECKING:
    from collections.abc import Callable

    from nebula.cli.printing import Line


def register(group: typer.Typer) -> None:
    """Add `endpoint` to the group `subject`."""
    inner = typer.Typer()
    group.add_typer(inner, name="endpoint")
    bodies: dict[str, Callable[..., Outcome]] = {"set": set_, "show": show, "test": probe}
    for name, body in bodies.items():
        command(inner, name, anywhere=True)(body)


def set_(
    run: Run,
    provider: Annotated[str, typer.Argument(metavar="builtin|openai-compatible|off")] = "openai-compatible",
    *,
    url: Annotated[str | None, typer.Option("--url", metavar="URL")] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME")] = None,
    dims: Annotated[int | None, typer.Option("--dims", metavar="N", min=1)] = None,
    key_stdin: Annotated[bool, typer.Option("--key-stdin")] = False,
    key_file: Annotated[Path | None, typer.Option("--key-file", metavar="FILE")] = None,
    allow_http: Annotated[bool | None, typer.Option("--allow-http/--no-allow-http", show_default=False)] = None,
    timeout_ms: Annotated[int | None, typer.Option("--timeout-ms", metavar="MS", min=1)] = None,
) -> Outcome:
    """Set the endpoint; a key comes by NEBULA_EMBED_KEY, a file, or standard input, never as a word of the command."""
    from nebula import endpoint

    mind = run.mind()
    given = {
        "provider": provider,
        "baseURL": url,
        "model": model,
        "dimensions": dims,
        "timeoutMs": timeout_ms,
        "allowHttp": allow_http,
        "keyFile": str(key_file.absolute()) if key_file else None,
    }
    for name, value in given.items():
        if value is not None:
            mind.configure(f"embedding.{name}", value)
    if key_stdin:
        key = given_text("-").strip()
        if not key:
            raise BadValue("--key-stdin", "", "stdin")
        endpoint.store_key(run.place().folder, key)
    return _shown(run, None, 0)


def show(run: Run, *, project: options.ProjectDir = None) -> Outcome:
    """What is set, for this project; of a key only whether there is one. Ends with 4 where something is missing."""
    return _shown(run, project, 4)


def _shown(run: Run, project: str | None, lacking: int) -> Outcome:
    from nebula import endpoint
    from nebula.encoder.remote import address
    from nebula.errors import NebulaError

    mind = run.mind()
    settings = mind.settings.embedding
    data: dict[str, Any] = {"provider": settings.provider}
    problem = ""
    try:
        found = endpoint.resolve(settings, project_of(run, project).root, run.place().folder, run.environ)
        if found is not None:
            data |= {"address": address(found.base_url), "model": found.model, "dimensions": found.dimensions}
            data |= {"key": "none" if found.key == "none" else "set", "ready": True}
        else:
            data |= {"ready": True}
    except NebulaError as error:
        data |= {"ready": False, "missing": error.message}
        problem = error.message
    lines: list[Line] = [[(f"{name}: ", "dim"), (str(value), "")] for name, value in data.items() if name != "missing"]
    if problem:
        lines.append([(problem, "red")])
    return Outcome(data, lines, lacking if problem else 0)


def probe(run: Run, *, project: options.ProjectDir = None) -> Outcome:
    """Ask the endpoint for one vector."""
    from nebula.subject import embedders

    found = embedders.embedder(run.mind().settings, project_of(run, project).root, run.place().folder, run.environ)
    (vector,) = found.embed([messages.say("subject.probe")])
    provider, model, _ = found.name
    data = {"provider": provider, "model": model, "dimensions": len(vector)}
    return Outcome(data, [[(messages.say("subject.answers", model=model, n=len(vector)), "green")]])
