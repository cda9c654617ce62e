"""记忆星图: a long-term memory for people and AI agents, in plain files on one's own disk.

    from nebula import Mind

    mind = Mind.open()                        # the mind of the commands, or Mind.open("folder")
    mind.add("渡轮改到七点开", tag="出行")      # on return it is on the disk
    mind.recall("船几点出发", n=3).hits         # each with .label, .score, .memory
    mind.as_of("2026-05-01").recall("船")      # as it would have been then
    mind.context("我们几点的船？", budget=1200).text
    mind.subject("林小满", project="story").search("谁把伞分给我")

Any number of threads may read through one Mind, and any number of processes may read and write the same folder: a write
takes the ledger's lock, a read notices first what others wrote. The public names load when first used, so that
`import nebula` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.version import __version__

if TYPE_CHECKING:
    from nebula.context import Context
    from nebula.errors import NebulaError
    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.past import Past
    from nebula.recall.hit import Filters, Hit
    from nebula.results import Added, Listing, Notice, Recalled
    from nebula.subject.subject import Subject

__all__ = [
    "Added",
    "Context",
    "Filters",
    "Hit",
    "Listing",
    "Memory",
    "Mind",
    "NebulaError",
    "Notice",
    "Past",
    "Recalled",
    "Subject",
    "__version__",
]

_HOMES = {
    "Added": "nebula.results",
    "Context": "nebula.context",
    "Filters": "nebula.recall.hit",
    "Hit": "nebula.recall.hit",
    "Listing": "nebula.results",
    "Memory": "nebula.mindlib.record",
    "Mind": "nebula.mind",
    "NebulaError": "nebula.errors",
    "Notice": "nebula.results",
    "Past": "nebula.past",
    "Recalled": "nebula.results",
    "Subject": "nebula.subject.subject",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
