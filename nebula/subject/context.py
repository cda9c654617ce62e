"""The block that an actor is handed before it plays: a little of what it lived and believes, as data that stays in.

Every text in it is escaped (`<`, `&`, control characters), so nothing in it can close the block or open another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula import messages
from nebula.text import normal
from nebula.text.datablock import escaped, fitted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nebula.subject.search import Found

OPEN, CLOSE = "<actor-sidecar-context>", "</actor-sidecar-context>"
EVENTS, VIEWS = 6, 4
BUDGET = 4000  # characters of the whole block
PAGE_SHARE = 3  # mind.md and state.md together take at most one in so many of them
LEAST = 20  # characters that are worth showing of one
LONGEST = 400  # characters of one memory's text; longer ones are cut openly
ALIKE = 0.8  # share of a text's character pairs that another one holds


def block(mind: str, state: str, events: Sequence[Found], views: Sequence[Found], budget: int = BUDGET) -> str:
    """The block, at most `budget` characters with its tags: pages first, then hits in the order of their scores.

    Hits that say nearly the same as one before are left out; those that no longer fit are, too. Without any hit it
    says so in one line.
    """
    frame = len(OPEN) + len(CLOSE) + 2
    lines = [messages.say("subject.data")]
    room = budget - frame - len(lines[0]) - 1
    for title, page in (("subject.mind", mind), ("subject.state", state)):
        shown = fitted(_page(page), min(room, budget // PAGE_SHARE // 2) - len(messages.say(title)) - 4)
        if shown:
            lines.append(f"[{messages.say(title)}] {shown}")
            room -= len(lines[-1]) + 1
    chosen = _chosen(sorted([*events, *views], key=lambda hit: -hit.score), room)
    told = [line for hit, line in sorted(chosen, key=lambda pair: pair[0].line) if hit.source == "events"]
    held = [line for hit, line in chosen if hit.source == "memory"]
    for title, shown_lines in (("subject.lived", told), ("subject.believes", held)):
        lines += [f"[{messages.say(title)}]", *shown_lines] if shown_lines else []
    if not chosen:
        lines.append(messages.say("subject.nothing"))
    return "\n".join([OPEN, *lines, CLOSE])


def _chosen(hits: Iterable[Found], room: int) -> list[tuple[Found, str]]:
    """Hits with their lines, as many as there is room for, none that says what one before it says."""
    room -= sum(len(messages.say(title)) + 3 for title in ("subject.lived", "subject.believes"))
    chosen: list[tuple[Found, str]] = []
    seen: list[set[str]] = []
    for hit in hits:
        pairs = _pairs(hit.text)
        if any(len(pairs & other) >= ALIKE * len(pairs) for other in seen):
            continue
        line = bullet(hit)
        if len(line) >= room and not chosen and room > LEAST:  # the best one comes, if need be in part
            line = fitted(line, room - 1)
        if len(line) < room:
            chosen.append((hit, line))
            seen.append(pairs)
            room -= len(line) + 1
    return chosen


def _pairs(text: str) -> set[str]:
    folded = "".join(char for char in normal.fold(text) if char.isalnum())
    return {folded[at : at + 2] for at in range(max(1, len(folded) - 1))}


def bullet(hit: Found) -> str:
    """One hit as a line: story time and how it came to be known, or the topic; then its text."""
    if hit.source == "memory":
        names = f"（{'、'.join(hit.aliases)}）" if hit.aliases else ""
        return f"- {escaped(hit.topic + names)}：{fitted(escaped(hit.text), LONGEST)}"
    teller = messages.say("subject.heard_from", teller=hit.origin["subject"]) if hit.origin.get("subject") else hit.kind
    known = " · ".join(part for part in (hit.time, teller if hit.kind != "lived" else "") if part)
    text = fitted(escaped(hit.text), LONGEST)
    return f"- ({escaped(known)}) {text}" if known else f"- {text}"


def _page(text: str) -> str:
    """A page as one line: without its title, and headings with nothing under them."""
    kept: list[str] = []
    for line in (line.strip() for line in text.splitlines() if line.strip()):
        if line.startswith("#") and kept and kept[-1].startswith("#"):
            kept.pop()
        kept.append(line)
    if kept and kept[-1].startswith("#"):
        kept.pop()
    body = [line.lstrip("# ") + ("：" if line.startswith("#") else "") for line in kept if not line.startswith("# ")]
    return escaped(" ".join(body))
