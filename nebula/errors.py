"""The one tree of failures, drawn here.

    NebulaError                        exit
      WrongUsage                        2     a flag, a value, a REF or an id that can't be meant
        EmptyText · AllPrivate · EmptyQuery · BadValue · BadRecord · UnknownRef · UnknownSetting · AlreadyReplaced ·
        NothingToUndo · NotSurfaced · BadSubjectId · SubjectTaken · UnknownSubject · UnknownTopic · UnknownTick ·
        NotOnPostgres
      CannotUse                         3     data, settings or disk that can't be used as they are
        LedgerUnusable · SettingsUnusable · WriteFailed · AssetDamaged · FileUnusable · ChangedMeanwhile ·
        EraseUnfinished · OutputFailed · EmbeddingFailed · IndexOfAnotherModel · StoreUnreachable · StoreRefused ·
        StoreNewer · StoresDiffer
      NotSetUp                          4     something has to be installed or set first
        NumpyMissing · ModelMissing · ModelUnusable · EditorFailed · SchedulerFailed · EmbeddingNotSet ·
        ExtraMissing · StoreNotMade · WallsDown
      LockedTooLong                    75

An error is built from facts; its sentence (what, where) and its hint (what to do next) come from the catalogue in
`messages.py`, in the language in use. Damage inside a ledger is no error but a value (`mindlib.ledger.Damage`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula import messages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class NebulaError(Exception):
    """A failed operation: `code` names it in JSON, `exit_code` is the process's, `facts` fill its sentence."""

    code = "error"
    exit_code = 3

    def __init__(self, **facts: object) -> None:
        super().__init__(facts)
        self.facts = facts

    @property
    def message(self) -> str:
        """What happened and where, one line."""
        return messages.say(f"error.{self.code}", **self.facts)

    @property
    def hint(self) -> str:
        """What to do next, one line."""
        return messages.say(f"hint.{self.code}", **self.facts)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class WrongUsage(NebulaError):
    """Something asked for that can't be meant: nothing was done.

    `usage` is what can be written instead; `reason` a key of the catalogue below `wrong.`, filled from `facts`.
    """

    code = "wrong_usage"
    exit_code = 2

    def __init__(self, usage: str, reason: str, **facts: object) -> None:
        super().__init__(usage=usage, reason=reason, **facts)

    @property
    def message(self) -> str:
        """What is wrong."""
        if self.code != WrongUsage.code:
            return super().message
        return messages.say("error.wrong_usage", reason=messages.say(f"wrong.{self.facts['reason']}", **self.facts))


class EmptyText(WrongUsage):
    """A memory without text."""

    code = "empty_text"

    def __init__(self) -> None:
        NebulaError.__init__(self)


class AllPrivate(EmptyText):
    """A text that is private as a whole: nothing of it may be stored."""

    code = "all_private"


class BadValue(WrongUsage):
    """A field or option whose value has the wrong type or range."""

    code = "bad_value"

    def __init__(self, name: str, value: object, expected: str) -> None:
        NebulaError.__init__(self, name=name, value=short(value), expected=expected)


class BadRecord(WrongUsage):
    """One of many records that can't be written: which one, and why; none was."""

    code = "bad_record"

    def __init__(self, number: int, reason: str) -> None:
        NebulaError.__init__(self, number=number, reason=reason)


class EmptyQuery(WrongUsage):
    """A question without words."""

    code = "empty_query"

    def __init__(self) -> None:
        NebulaError.__init__(self)


class UnknownRef(WrongUsage):
    """A REF that names no memory of this mind."""

    code = "unknown_ref"

    def __init__(self, ref: str) -> None:
        NebulaError.__init__(self, ref=short(ref))


class BadHandle(WrongUsage):
    """A handle such as @1 that names nothing now: no list, one that is too old, or one that is shorter."""

    def __init__(self, code: str, handle: str, **facts: object) -> None:
        NebulaError.__init__(self, handle=short(handle), **facts)
        self.code = code


class AlreadyReplaced(WrongUsage):
    """A memory that no longer holds can't be replaced once more."""

    code = "already_replaced"

    def __init__(self, ref: str) -> None:
        NebulaError.__init__(self, ref=ref)


class Echoed(WrongUsage):
    """A text that the mind handed out itself, where echoes are refused."""

    code = "echoed"

    def __init__(self, ref: str) -> None:
        NebulaError.__init__(self, ref=ref)


class NothingToUndo(WrongUsage):
    """No command or night is left that could be taken back."""

    code = "nothing_to_undo"

    def __init__(self) -> None:
        NebulaError.__init__(self)


class NotSurfaced(WrongUsage):
    """A memory that never surfaced can't have been taken up or not."""

    code = "not_surfaced"

    def __init__(self, ref: str) -> None:
        NebulaError.__init__(self, ref=ref)


class UnknownSetting(WrongUsage):
    """A key that the settings do not have."""

    code = "unknown_setting"

    def __init__(self, key: str, nearest: Sequence[str]) -> None:
        NebulaError.__init__(self, key=short(key), nearest=", ".join(nearest) or "-")


class BadSubjectId(WrongUsage):
    """A subject id that is not one plain folder name."""

    code = "bad_subject_id"

    def __init__(self, subject: str) -> None:
        NebulaError.__init__(self, subject=short(subject) or '""')


class SubjectTaken(WrongUsage):
    """An id that differs from an existing one only in case or Unicode form."""

    code = "subject_taken"

    def __init__(self, subject: str, other: str) -> None:
        NebulaError.__init__(self, subject=short(subject), other=short(other))


class UnknownSubject(WrongUsage):
    """An id that names no subject of the project."""

    code = "unknown_subject"

    def __init__(self, subject: str, nearest: str, project: object) -> None:
        known = f"{short(nearest)}?" if nearest else "-"
        NebulaError.__init__(self, subject=short(subject), nearest=known, project=project)


class UnknownTopic(WrongUsage):
    """A topic or alias that a subject has no view of."""

    code = "unknown_topic"

    def __init__(self, topic: str, known: str) -> None:
        NebulaError.__init__(self, topic=short(topic), known=short(known, 160) or "-")


class UnknownTick(WrongUsage):
    """A tick that no event bears: ticks are not compared, so nothing can be up to it."""

    code = "unknown_tick"

    def __init__(self, tick: str) -> None:
        NebulaError.__init__(self, tick=short(tick))


class NotOnPostgres(WrongUsage):
    """Something that works on a mind in a folder alone; nothing was done."""

    code = "not_on_postgres"

    def __init__(self, address: object) -> None:
        NebulaError.__init__(self, address=address)


class CannotUse(NebulaError):
    """Data, settings or a disk that can't be used as they are."""

    code = "cannot_use"
    exit_code = 3


class LedgerUnusable(CannotUse):
    """A ledger's name holds something that can't be read as a file."""

    code = "ledger_unusable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path=path, reason=reason)


class FileUnusable(CannotUse):
    """A file or folder that was named can't be read."""

    code = "file_unusable"

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(path=path, reason=reason)


class NotOurs(FileUnusable):
    """Another program's settings are of no shape that can be edited; they were left as they are."""

    code = "not_ours"


class SettingsUnusable(CannotUse):
    """`mind-config.json` does not hold what a key must hold."""

    code = "settings_unusable"

    def __init__(self, path: Path | str | None, key: str, reason: str) -> None:
        super().__init__(path=path or "mind-config.json", key=key, reason=reason)


class WriteFailed(CannotUse):
    """The disk refused a write; what was there before is unchanged."""

    code = "write_failed"

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(path=path, reason=reason)


class OutputFailed(CannotUse):
    """Standard output takes no more: the disk behind it is full, or it is gone."""

    code = "output_failed"

    def __init__(self, reason: str) -> None:
        super().__init__(reason=reason)


class EraseUnfinished(WriteFailed):
    """The disk refused a write in the midst of an erase: it holds for every reader, and the next command goes on."""

    code = "erase_unfinished"


class ChangedMeanwhile(CannotUse):
    """A file that was to be replaced is no longer what was read; nothing was written."""

    code = "changed_meanwhile"

    def __init__(self, path: Path | str) -> None:
        super().__init__(path=path)


class AssetDamaged(CannotUse):
    """A file that ships with the program is not as it was shipped."""

    code = "asset_damaged"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path=path, reason=reason)


class EmbeddingFailed(CannotUse):
    """A server gave no vectors that can be used. `reason` is one line and holds nothing of the key."""

    code = "embedding_failed"

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(address=address, reason=reason)


class IndexOfAnotherModel(CannotUse):
    """A subject index whose vectors come from another model than the one that is set."""

    code = "index_of_another_model"

    def __init__(self, path: Path, there: str, wanted: str) -> None:
        super().__init__(path=path, there=short(there, 100), wanted=short(wanted, 100))


class StoreUnreachable(CannotUse):
    """No connection to a database, or it was lost and did not come back. `reason` holds no password."""

    code = "store_unreachable"

    def __init__(self, address: object, reason: str) -> None:
        super().__init__(address=address, reason=short(reason, 200))


class StoreRefused(CannotUse):
    """A database that answered with an error, such as a missing right; nothing was written."""

    code = "store_refused"

    def __init__(self, address: object, reason: str) -> None:
        super().__init__(address=address, reason=short(reason, 200))


class StoreNewer(CannotUse):
    """A database whose tables a later version of the program has made."""

    code = "store_newer"

    def __init__(self, address: object, there: int, known: int) -> None:
        super().__init__(address=address, there=there, known=known)


class StoresDiffer(CannotUse):
    """Two stores of which one can't be the other's copy: a ledger differs in what both hold; nothing was written."""

    code = "stores_differ"

    def __init__(self, where: object, line: int) -> None:
        super().__init__(where=where, line=line)


class NotSetUp(NebulaError):
    """Something has to be installed or set first."""

    code = "not_set_up"
    exit_code = 4


class NumpyMissing(NotSetUp):
    """The dense route was asked for by name and numpy can't be imported."""

    code = "numpy_missing"

    def __init__(self) -> None:
        super().__init__()


class ModelMissing(NotSetUp):
    """No encoder lies where it should."""

    code = "model_missing"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder=folder)


class ModelUnusable(NotSetUp):
    """An encoder's folder that can't be loaded as a BERT-family model."""

    code = "model_unusable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path=path, reason=reason)


class EncoderUnusable(NotSetUp):
    """A folder that can't serve as a second encoder, or an added one that is gone or damaged."""

    code = "encoder_unusable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path=path, reason=reason)


class EmbeddingNotSet(NotSetUp):
    """Vectors of a server are asked for and what it takes to ask is missing, or they are switched off."""

    code = "embedding_not_set"

    def __init__(self, reason: str) -> None:
        super().__init__(reason=reason)


class ExtraMissing(NotSetUp):
    """A package that only some need is not installed."""

    code = "extra_missing"

    def __init__(self, extra: str, package: str) -> None:
        super().__init__(extra=extra, package=package)


class StoreNotMade(NotSetUp):
    """A database without a mind's tables, or with those of an earlier version."""

    code = "store_not_made"

    def __init__(self, address: object) -> None:
        super().__init__(address=address)


class WallsDown(NotSetUp):
    """A story's database as a role that row-level security does not bind: each subject would see all others."""

    code = "walls_down"

    def __init__(self, address: object) -> None:
        super().__init__(address=address)


class EditorFailed(NotSetUp):
    """No editor could be run for a text; nothing was changed."""

    code = "editor_failed"

    def __init__(self, editor: str, reason: str) -> None:
        super().__init__(editor=short(editor), reason=reason)


class SchedulerFailed(NotSetUp):
    """The system's scheduler is not there or refused."""

    code = "scheduler_failed"

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(program=program, reason=short(reason, 160))


class LockedTooLong(NebulaError):
    """Another process held a lock for longer than we wait."""

    code = "locked"
    exit_code = 75

    def __init__(self, path: Path | str, seconds: float) -> None:
        super().__init__(path=path, seconds=f"{seconds:g}")


def check_unicode(name: str, text: str) -> None:
    """Refuse text with lone surrogates: so arrive bytes that are no UTF-8, and no JSON could store them."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadValue(name, text.encode("utf-8", "backslashreplace").decode(), "UTF-8") from None


def short(value: object, limit: int = 60) -> str:
    """A value as it may stand in a sentence: one line, printable, at most `limit` characters."""
    text = "".join(c if c.isprintable() else "·" for c in str(value))
    return text if len(text) <= limit else text[: limit - 1] + "…"
