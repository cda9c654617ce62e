"""Commands in process: what they print and the code they end with."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from nebula.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Said:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        document = json.loads(self.out)
        assert document["schema"] == 1
        assert document["ok"] is True
        return document["data"]


class Nebula(Protocol):
    """Run a command; `given` is piped in."""

    def __call__(self, *argv: str, given: bytes = b"") -> Said: ...


@pytest.fixture
def nebula(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    def run(*argv: str, given: bytes = b"") -> Said:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
        capsys.readouterr()
        code = main(list(argv))
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run
