"""Where the mood comes from when another program keeps it: a JSON file or an HTTP answer.

What arrives is data of a stranger: its size, its time and its reach are bounded, and nothing of it is followed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.errors import short
from nebula.mood.documents import (
    REASON_LENGTH,
    MoodSourceFailed,
    Reading,
    clipped,
    file_badge,
    file_bytes,
    parsed,
    read_dims,
    read_number,
    reading,
)
from nebula.mood.expression import NEUTRAL

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from nebula.settings import MoodSettings


def read(settings: MoodSettings, now: datetime, last: Reading | None) -> Reading:
    """The mood of the source that is set. Never raises.

    Where it fails: the last reading of this same source, else neutral 50 without dimensions; stale, with the reason.
    """
    try:
        return _asked(settings, now)
    except MoodSourceFailed as failed:
        reason = failed.reason
    except Exception as error:  # a stranger's document must cost nobody a recall
        reason = short(f"{type(error).__name__}: {error}", REASON_LENGTH)
    badge = _badge(settings)
    if last is not None and last.source == badge:
        return replace(last, stale=True, reason=reason)
    return Reading(NEUTRAL, {}, "", reason, badge, stale=True, at=clock.write(now))


def revived(kept: Mapping[str, Any]) -> Reading | None:
    """A reading that was kept as an object of its fields; None where it was none of a foreign source."""
    value, dims, source = read_number(kept.get("value")), read_dims(kept.get("dims")), kept.get("source")
    foreign = isinstance(source, str) and (source == "http" or source.startswith("file:"))
    if value is None or not foreign or (kept.get("stale") and value == NEUTRAL and not dims):
        return None
    label, reason, at = (text if isinstance(text := kept.get(key), str) else "" for key in ("label", "reason", "at"))
    return Reading(clipped(value, 100.0), dims, label, reason, str(source), bool(kept.get("stale")), at)


def _asked(settings: MoodSettings, now: datetime) -> Reading:
    if settings.provider == "file" and settings.file:
        return from_file(Path(settings.file).expanduser(), settings.map, now)
    if settings.provider == "http" and settings.url:
        return from_http(settings.url, settings.timeoutMs, settings.map, now, allow_remote=settings.remote)
    raise MoodSourceFailed("unset")


def _badge(settings: MoodSettings) -> str:
    return file_badge(Path(settings.file)) if settings.provider == "file" else settings.provider


def from_file(path: Path, paths: Mapping[str, str], now: datetime) -> Reading:
    """The mood in a JSON file of at most 256 kB, by a JSONPath map (see above). Raises MoodSourceFailed."""
    return reading(parsed(file_bytes(path)), paths, file_badge(path), clock.write(now))


def from_http(
    url: str, timeout_ms: int, paths: Mapping[str, str], now: datetime, *, allow_remote: bool = False
) -> Reading:
    """The mood that a GET answers: http or https, 200, JSON of at most 256 kB, all within `timeout_ms`.

    This machine only (127.0.0.0/8, ::1, localhost) unless `allow_remote`; no redirects, proxies or credentials.
    Raises MoodSourceFailed.
    """
    from nebula.mood.fetch import fetched

    return reading(parsed(fetched(url, timeout_ms, allow_remote=allow_remote)), paths, "http", clock.write(now))
