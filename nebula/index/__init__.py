"""What each route searches, derived from the ledgers: may be deleted at any time at the cost of time alone.

Everything is kept in immutable segments (flat array files, opened by memory map) named by one manifest that is
replaced in one step, so that a reader never sees a half-written index. Needs numpy; without it recall reads ledgers.
"""

from __future__ import annotations


def has_numpy() -> bool:
    """Whether the dense route and the mapped index can work."""
    try:
        import numpy as np
    except ImportError:
        return False
    return bool(np.__name__)
