"""The run of many hosts, short; its full size is a command (see hosts). Writers alone: test_store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.postgres import hosts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.torture
@pytest.mark.process
@pytest.mark.timeout(600)
def test_what_was_acknowledged_is_there_once(tmp_path: Path) -> None:
    """Three clients for half a minute, seven kills, a restart and a kill of the server."""
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)  # the server is another user's
    done = hosts.run(tmp_path, 3, 30.0, 4.0)
    assert done.faults == []
    assert done.figures["lost"] == done.figures["twice"] == 0
    assert done.figures["in the database"]
