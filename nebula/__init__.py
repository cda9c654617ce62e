"""记忆星图: a long-term memory for people and AI agents, in plain files on one's own disk.

The public names load when first used, so that `import nebula` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.version import __version__

if TYPE_CHECKING:
    from nebula.errors import NebulaError
    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.recall.hit import Filters, Hit

__all__ = ["Filters", "Hit", "Memory", "Mind", "NebulaError", "__version__"]

_HOMES = {
    "Filters": "nebula.recall.hit",
    "Hit": "nebula.recall.hit",
    "Memory": "nebula.mindlib.record",
    "Mind": "nebula.mind",
    "NebulaError": "nebula.errors",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
