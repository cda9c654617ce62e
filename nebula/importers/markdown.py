"""A folder of Markdown notes (or one file), plain ones or with basic-memory's marks; hidden folders are left alone.

A memory is an observation (`- [category] what #tag`), a relation (`- verb [[Other note]]`), or what else stands under
one heading: a whole note is too long to come to mind. Each begins with its note's title. A memory's tag is the
category, else the first tag, else `markdown`. A note is known by its `permalink`, else by its path in the folder, and a
section by its headings. Its day is `created` or `date` of the front matter, else the day in the file's name, else the
file's own time. All are the person's notes: via 他说的.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nebula.errors import FileUnusable
from nebula.importers import USER, Item, Passed
from nebula.importers.exports import digest, moment, storable, whole
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NAME = "markdown"
#: Bytes of one note.
LIMIT = 8 * 1024 * 1024
_FRONT = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_KEY = re.compile(r"([\w-]+):(?:[ \t]+(.*))?")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r"[ ]{0,3}(```+|~~~+)")
#: Not a task (`- [ ]`, `- [x]`), not a link (`- [text](address)`).
_OBSERVATION = re.compile(r"[ \t]*[-*+][ \t]+\[(?![ xX/-]\])([^\[\]]{1,60})\](?!\()[ \t]+(.+)")
_RELATION = re.compile(r"[ \t]*[-*+][ \t]+(?:([^\[\]]{1,80}?)[ \t]+)?\[\[([^\[\]]+)\]\](.*)")
_TAG = re.compile(r"(?:^|\s)#([\w/-]+)")
_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")


@dataclass(frozen=True)
class _Note:
    """What all memories of a note have in common."""

    title: str
    key: str
    tag: str
    at: str
    changed: str


def read(path: Path, replies: bool) -> Iterator[Item | Passed]:  # noqa: ARG001 - one signature for all formats
    """Every memory of the notes in a folder, or of one note. Raises FileUnusable."""
    if not path.exists():
        raise FileUnusable(path, because("absent"))
    inner = sorted(path.rglob("*.md")) if path.is_dir() else [path]
    for file in inner:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        if path.is_dir() and (any(part.startswith(".") for part in name.split("/")) or file.is_dir()):
            continue
        if path.is_dir() and not file.is_file():
            yield Passed(name, because("irregular"))
            continue
        if file.stat().st_size > LIMIT:
            yield Passed(name, because("larger", limit=LIMIT))
            continue
        try:
            text = whole(file).decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            yield Passed(name, because("not_utf8"))
            continue
        yield from items(text, name, moment(int(file.stat().st_mtime)))


def items(text: str, name: str, written: str) -> Iterator[Item | Passed]:
    """The memories of one note: its text, its path in the folder, and the file's time. Pure."""
    front = _FRONT.match(text)
    told = _front(front[1]) if front else {}
    body = text[front.end() :] if front else text
    first = {key: values[0] for key, values in told.items() if values}
    day = _DAY.search(name.rpartition("/")[2])
    begun = moment(first.get("created", first.get("date", "")))
    note = _Note(
        first.get("title") or name.rpartition("/")[2].removesuffix(".md"),
        f"{NAME}:{first.get('permalink') or name}",
        next(iter(told.get("tags", [])), "").lstrip("#"),
        begun or (day[1] + "T00:00:00" if day and moment(day[1]) else written),
        moment(first.get("modified", first.get("updated", ""))) or written,
    )
    found = list(_parts(body, note))
    if not found:
        yield Passed(name, "empty", damaged=False)
    yield from found


def _front(text: str) -> dict[str, list[str]]:
    """Front matter as far as notes use it: `key: value`, `key: [a, b]`, lists of `- item`."""
    found: dict[str, list[str]] = {}
    key = ""
    for line in text.split("\n"):
        named = _KEY.fullmatch(line.rstrip())
        if named:
            key, value = named[1].lower(), (named[2] or "").strip()
            listed = value[1:-1].split(",") if value.startswith("[") and value.endswith("]") else [value]
            if key == "tags" and len(listed) == 1:
                listed = value.split(",")
            found[key] = [plain for one in listed if (plain := one.strip().strip("\"'"))]
        elif key and line.lstrip().startswith("- "):
            found[key].append(line.lstrip()[2:].strip().strip("\"'"))
    return found


def _parts(body: str, note: _Note) -> Iterator[Item]:
    path: list[tuple[int, str]] = []
    rest: list[str] = []
    fence = ""
    seen: Counter[str] = Counter()
    for line in [*body.split("\n"), "# \x00"]:  # the last closes the last section
        marked = _FENCE.match(line)
        if marked and (not fence or marked[1].startswith(fence)):
            fence = "" if fence else marked[1]
        heading = None if fence and line != "# \x00" else _HEADING.fullmatch(line)
        if heading:
            yield from _section(rest, [name for _, name in path], note, seen)
            rest, level = [], len(heading[1])
            path = [*((deep, name) for deep, name in path if deep < level), (level, heading[2])]
        elif not fence and (told := _OBSERVATION.fullmatch(line)):
            yield _observation(told, note)
        elif not fence and (told := _RELATION.fullmatch(line)):
            yield _relation(told, note)
        else:
            rest.append(line)


def _observation(told: re.Match[str], note: _Note) -> Item:
    category, said = storable(told[1]), storable(told[2])
    group = f"{note.key}#"
    return Item(
        f"{group}#{digest(f'[{category}] {said}')}",
        f"{note.title}: {said}",
        USER,
        category,
        note.at,
        note.changed,
        group,
    )


def _relation(told: re.Match[str], note: _Note) -> Item:
    said = " ".join(part for one in (told[1] or "relates_to", told[2], told[3]) if (part := storable(one)))
    group = f"{note.key}#→"
    return Item(f"{group}#{digest(said)}", f"{note.title} {said}", USER, note.tag or NAME, note.at, note.changed, group)


def _section(lines: list[str], path: list[str], note: _Note, seen: Counter[str]) -> Iterator[Item]:
    """What stands under one heading, if anything does; two sections of one name are told apart by their order."""
    text = storable("\n".join(lines))
    if not text:
        return
    names = [name for name in path if name.casefold() != note.title.casefold()]
    key = f"{note.key}#" + "/".join(names)
    seen[key] += 1
    source = key if seen[key] == 1 else f"{key}~{seen[key]}"
    tags: Mapping[int, str] = dict(enumerate(_TAG.findall(text)))
    said = f"{' › '.join([note.title, *names])}\n{text}"
    yield Item(source, said, USER, tags.get(0, "") or note.tag or NAME, note.at, note.changed)
