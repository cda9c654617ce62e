"""House rule 1, read from the sources: imports point down only, and the concepts do not know each other."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parent.parent / "nebula"
#: From the ground up; a name of the package's top level stands in exactly one of them.
LAYERS = (
    (
        *("rules", "settings", "address", "errors", "clock", "places", "messages", "version", "catalogue"),
        *("loopback", "webpage", "private", "quick", "reasons"),
    ),
    ("mindlib",),
    ("text", "encoder"),
    ("index",),
    ("recall", "life", "mood", "starmap"),
    (
        *(
            "drafts",
            "given",
            "discretion",
            "passage",
            "context",
            "past",
            "hooks",
            "results",
            "tagging",
            "moods",
            "writing",
            "mind",
            "recalling",
            "calibration",
            "amend",
            "sleepers",
            "digests",
            "night",
            "surface",
            "looking",
            "outlook",
            "endpoint",
            "origins",
            "seals",
            "moving",
            "erasure",
            "erase",
            "remains",
            "repair",
            "export",
            "merge",
            "relocate",
            "screen",
            "verify",
            "echo",
            "handles",
            "more",
            "why",
            "second",
            "remedy",
            "tuning",
            "duplicates",
        ),
        *(
            "longterm",
            "postgres",
            "stores",
            "selftest",
            "doctor",
            "demo",
            "bench",
            "schedule",
            "transfer",
            "importers",
            "candidates",
            "subject",
            "maps",
        ),
    ),
    ("panel", "mcp"),
    ("cli", "__main__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
CONCEPTS = set(LAYERS[4])


def modules() -> dict[str, ast.Module]:
    """Every module by its dotted name below `nebula`; the package's own lazy names are left out."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if name:
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


MODULES = modules()


def imports(name: str) -> Iterator[str]:
    """The modules of ours that a module imports anywhere, for types too; dotted, below `nebula`."""
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            base = (node.module or "").split(".")
            for alias in node.names:
                if base[0] == "nebula":
                    full = ".".join([*base[1:], alias.name])
                    yield full if full in MODULES else ".".join(base[1:])
        elif isinstance(node, ast.Import):
            yield from (alias.name[7:] for alias in node.names if alias.name.startswith("nebula."))


def test_every_module_has_a_layer() -> None:
    assert {name.split(".")[0] for name in MODULES} <= LEVEL.keys()


def arrows(name: str) -> list[tuple[str, str]]:
    """(own top-level name, imported one) for every import of ours; the package's own lazy names left out."""
    own = name.split(".", maxsplit=1)[0]
    tops = {imported.split(".")[0] for imported in imports(name)}
    return [(own, top) for top in sorted(tops) if top]


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_down(name: str) -> None:
    """A module imports its own layer or lower ones."""
    for own, top in arrows(name):
        assert LEVEL[top] <= LEVEL[own], f"{name} imports {top}"


@pytest.mark.parametrize("name", [name for name in MODULES if name.split(".")[0] in CONCEPTS])
def test_concepts_do_not_know_each_other(name: str) -> None:
    """recall, life, mood and starmap import each other never."""
    for own, top in arrows(name):
        assert top == own or top not in CONCEPTS, f"{name} imports {top}"


def test_text_and_encoder_do_not_know_each_other() -> None:
    pairs = {(name.split(".")[0], imported.split(".")[0]) for name in MODULES for imported in imports(name)}
    assert not {("text", "encoder"), ("encoder", "text")} & pairs


@pytest.mark.parametrize("name", [name for name in MODULES if name.split(".")[0] in {"cli", "__main__"}])
def test_doors_import_typer_and_the_standard_library_alone(name: str) -> None:
    """House rule 29: what is heavy enters through functions."""
    for node in MODULES[name].body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            tops = {imported.split(".")[0] for imported in names}
            assert tops <= sys.stdlib_module_names | {"typer", "nebula"}, f"{name}: {tops}"


def test_one_json_library_below_the_doors_and_no_click() -> None:
    """House rules 14 and 30: what is stored has one byte form, orjson's; click is reached through typer alone."""
    for name, tree in MODULES.items():
        banned = {"click"} if name.startswith(("cli.", "mcp.")) else {"click", "json"}
        for node in ast.walk(tree):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not banned & {imported.split(".")[0] for imported in names}, name


def test_the_reader_of_imports_sees_them() -> None:
    """The check itself can fail: known arrows are found, also those inside functions and for types."""
    assert "mindlib.store" in set(imports("mind"))
    assert "index.cache" in set(imports("mind"))
    assert "messages" in set(imports("errors"))
