"""An id is one folder name, whatever is typed; and never two that are easily taken for one (S7, S13)."""

from __future__ import annotations

import unicodedata
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nebula.errors import BadSubjectId, FileUnusable, SubjectTaken, UnknownSubject
from nebula.subject import cast
from nebula.subject.ids import check_id, key
from nebula.subject.project import Project, find
from tests.subject.conftest import NOW

BAD = [
    "", ".", "..", "../x", "a/b", "a\\b", "/abs", "C:\\x", "C:x", "a\nb", "a\0b", "a\tb", " a", "a ", "a.b", ".a", "-a",
    "--help", "a:b", "a*b", "a?b", "a|b", "<a>", '"a"', "con", "CON", "Nul", "aux", "com1", "LPT9", "com¹", "conin",
    "a" * 65, "字" * 67, "\u202ea", "a\u200bb", "\ud800", "😀", "~", "$HOME", "%41", "a\u200bb", "\u0301a",
]  # fmt: skip
GOOD = ["elena", "林小满", "Ана", "ليلى", "नीना", "a-b_c1", "_x", "9lives", "é", "字" * 64, "com", "console", "コハル"]


@pytest.mark.parametrize("text", BAD)
def test_bad(text: str) -> None:
    with pytest.raises(BadSubjectId):
        check_id(text)


@pytest.mark.parametrize("text", GOOD)
def test_good(text: str) -> None:
    assert check_id(text) == unicodedata.normalize("NFC", text)


@settings(max_examples=2000, deadline=None)
@given(st.text(max_size=70))
@example("e\u0301")
def test_any_text_is_refused_or_a_direct_child(text: str) -> None:
    try:
        found = check_id(text)
    except BadSubjectId:
        return
    for flavour in (PurePosixPath, PureWindowsPath):
        path = flavour("subjects") / found
        assert path.parent == flavour("subjects")
        assert path.name == found
    assert unicodedata.is_normalized("NFC", found)
    assert check_id(found) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [("elena", "ELENA"), ("é", "e\u0301É"[:2].upper()), ("straße", "STRASSE"), ("a1", "ａ１"), ("Ω", "\u2126")],
)
def test_two_that_differ_by_case_or_form_are_one(project: Project, one: str, other: str) -> None:
    assert key(one) == key(unicodedata.normalize("NFC", other))
    cast.init(project, [cast.Part(one)], NOW)
    if check_id(one) != check_id(other):
        with pytest.raises(SubjectTaken):
            project.new_folder(other)
        with pytest.raises(UnknownSubject):
            project.folder(other)


def test_a_name_near_to_one_is_suggested(project: Project) -> None:
    cast.init(project, [cast.Part("elena")], NOW)
    with pytest.raises(UnknownSubject) as found:
        project.folder("elina")
    assert "elena" in found.value.hint


def test_links_are_no_subjects(project: Project, tmp_path: Path) -> None:
    cast.init(project, [cast.Part("a")], NOW)
    (tmp_path / "outside").mkdir()
    (project.subjects / "b").symlink_to(tmp_path / "outside")
    assert list(project.folders()) == ["a"]
    for of in (project.folder, project.new_folder):
        with pytest.raises(FileUnusable):
            of("b")


def test_a_linked_way_down_is_refused(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "subjects").mkdir(parents=True)
    project.root.mkdir()
    (project.root / "simulation").symlink_to(outside)
    with pytest.raises(FileUnusable):
        cast.init(project, [cast.Part("a")], NOW)
    assert list((outside / "subjects").iterdir()) == []


def test_the_project_is_found_upwards(project: Project, tmp_path: Path) -> None:
    cast.init(project, [cast.Part("a")], NOW)
    deep = project.root / "chapters" / "one"
    deep.mkdir(parents=True)
    assert find(deep).root == project.root
    assert find(deep, tmp_path).root == tmp_path
    assert find(tmp_path).root == tmp_path
