"""Which terminal a command runs in, so that the handles of two do not mix."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Set by terminals and multiplexers, for where no stream leads to the terminal itself.
_NAMES = ("TMUX_PANE", "TERM_SESSION_ID", "WT_SESSION", "KITTY_WINDOW_ID", "WEZTERM_PANE", "STY")


def session(environ: Mapping[str, str]) -> str:
    """A key that stays the same within a terminal and differs between two; "" where none can be told.

    `NEBULA_SESSION` decides where it is set: a program that calls again and again names itself by it.
    """
    if environ.get("NEBULA_SESSION"):
        return f"NEBULA_SESSION={environ['NEBULA_SESSION']}"
    return _device() or next((f"{name}={environ[name]}" for name in _NAMES if environ.get(name)), "")


def _device() -> str:
    """The terminal that one of the three streams leads to, and the login in it: devices are used again."""
    if not hasattr(os, "ttyname"):  # Windows has neither; its terminals set WT_SESSION
        return ""
    for descriptor in (0, 1, 2):
        try:
            return f"{os.ttyname(descriptor)}:{os.getsid(0)}"
        except OSError:
            continue
    return ""
