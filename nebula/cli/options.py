"""The options that mean the same in every command, once each. Their help stands in the catalogue as `option.<name>`."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json")]
MindDir = Annotated[str | None, typer.Option("--mind", metavar="DIR|URL")]
Now = Annotated[str, typer.Option("--now", metavar="TIME", envvar="NEBULA_NOW", show_envvar=False)]
Quiet = Annotated[bool, typer.Option("-q", "--quiet")]
Debug = Annotated[bool, typer.Option("--debug")]
NoColor = Annotated[bool, typer.Option("--no-color")]
NoPager = Annotated[bool, typer.Option("--no-pager")]
LockTimeout = Annotated[
    float, typer.Option("--lock-timeout", metavar="SECONDS", min=0.0, max=3600.0, show_default=False)
]
Limit = Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, max=10_000)]
Ledgers = Annotated[list[str] | None, typer.Option("-l", "--ledger", metavar="LEDGER")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG")]
Vias = Annotated[list[str] | None, typer.Option("--via", metavar="VIA")]
Since = Annotated[str, typer.Option("--since", metavar="TIME")]
Until = Annotated[str, typer.Option("--until", metavar="TIME")]
AsOf = Annotated[str, typer.Option("--as-of", metavar="TIME")]
Session = Annotated[str, typer.Option("--session", metavar="ID")]
Everything = Annotated[bool, typer.Option("--all")]
Budget = Annotated[int | None, typer.Option("--budget", metavar="N", min=1, show_default=False)]
Null = Annotated[bool, typer.Option("-0", "--null")]
Jsonl = Annotated[bool, typer.Option("--jsonl")]
Profile = Annotated[str, typer.Option("--profile", metavar="NAME")]
SetValues = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE")]
ProjectDir = Annotated[str | None, typer.Option("--project", metavar="DIR|URL")]
UntilLine = Annotated[int | None, typer.Option("--until-line", metavar="N", min=0)]
UntilTick = Annotated[str, typer.Option("--until-tick", metavar="TICK")]
SubjectLimit = Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, max=20)]
