"""What the mind holds already, pointed out by its ref: the same text but for few words, or a near meaning.

A hint after the write, never an act. Candidates come from the index: the equal text, and the memories that share most
keywords; their own tokens then decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.index.hashing import h64
from nebula.results import Notice
from nebula.text import forms, likeness
from nebula.text.keywords import keywords
from nebula.text.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nebula.index.view import Index
    from nebula.mindlib.record import Memory

#: Cosine from which a new memory may say the same as an older one of its ledger.
SIMILAR = 0.9
#: The share of words from which it is worth saying in which two texts differ, and the tokens that both need: everyday
#: notes of a few words are alike by nature.
ALIKE, LEAST = 0.8, 8
#: Memories whose words are compared, and rows of a keyword that are looked at: the latest.
COMPARED, REACH = 8, 4096


def notices(new: Memory, index: Index) -> list[Notice]:
    """At most one: whom a single new memory repeats, in words or in meaning."""
    said = _said(new.text)
    found = [(*one, memory) for memory in _candidates(new, index) if (one := compared(said, _said(memory.text)))]
    if found:
        code, share, changes, memory = max(found, key=lambda one: (one[0] != "differs", one[1]))
        return [Notice(code, {"ref": memory.ref, "share": f"{share:.0%}", "changes": changes, "new": new.ref})]
    near = index.nearest_of(new.ref, new.ledger)
    if near is None or near[1] < SIMILAR:
        return []
    return [Notice("similar", {"ref": near[0], "cosine": f"{near[1]:.2f}", "new": new.ref})]


def compared(said: Sequence[str], theirs: Sequence[str]) -> tuple[str, float, str] | None:
    """How two forms are alike: `duplicate`, `alike` (but for particles) or `differs`; None where they are not.

    With the share they have in common, 0…1, and what differs: `5→8 +不`.
    """
    if said == theirs:
        return "duplicate", 1.0, ""
    share, changes = likeness.changes(said, theirs)
    if share and not changes:
        return "alike", share, ""
    if share < ALIKE or min(len(said), len(theirs)) < LEAST:
        return None
    return "differs", share, " ".join(_change(forms.joined(old), forms.joined(new)) for old, new in changes)


def _change(old: str, new: str) -> str:
    return f"{old}→{new}" if old and new else f"+{new}" if new else f"-{old}"


def _said(text: str) -> list[str]:
    """A text's form; what is too long to be compared is one token, and equals itself alone."""
    return [token for part in forms.parts(text) for token in part] if len(text) <= likeness.LONGEST else [text]


def _candidates(new: Memory, index: Index) -> Iterator[Memory]:
    """Memories that held when the new one came and share its text or half of its keywords."""
    import numpy as np

    own = index.row(new.ref)
    if own < 0:
        return
    terms = keywords(new.text)
    rows = [index.table.with_text(h64(simplified(new.text)))[-COMPARED:]] * len(terms or "1")
    rows += [index.keywords.run(h64(term))[0][-REACH:] for term in terms]
    met = np.sort(np.concatenate(rows))
    starts = np.flatnonzero(np.append(True, met[1:] != met[:-1]))
    counts = np.diff(np.append(starts, len(met)))
    found = met[starts]
    often = (
        (counts * 2 >= len(terms))
        & (found != own)
        & (index.table.values("valid_to", found) > index.table.value("at", own))
    )
    best = np.lexsort((-found[often], -counts[often]))[:COMPARED]
    for row in found[often][best].tolist():
        memory = index.memory(row)
        if memory is not None:
            yield memory


def many(new: Sequence[Memory], index: Index, now: int) -> list[Notice]:
    """For many at once: how many have the very text of an older memory that holds, or of one another, and which."""
    import numpy as np

    holding = np.flatnonzero(index.table.column("valid_to") > now)
    text = index.table.column("text")
    own = {row: memory for memory in new if (row := index.row(memory.ref)) >= 0}
    rows = np.array([row for row in sorted(own) if index.table.value("valid_to", row) > now], np.int64)
    order = np.argsort(text[holding], kind="stable")
    first = holding[order[np.searchsorted(text[holding], text[rows], sorter=order)]]
    pairs = [
        (own[row].ref, index.ref(int(of))) for row, of in zip(rows.tolist(), first.tolist(), strict=True) if of != row
    ]
    if not pairs:
        return []
    named = " ".join(f"{ref}={of}" for ref, of in pairs[:5]) + (" …" if len(pairs) > 5 else "")
    return [Notice("duplicates", {"n": len(pairs), "refs": named})]
