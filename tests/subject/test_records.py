"""Events and views read from files that anybody may have written."""

from __future__ import annotations

from nebula.subject import records


def test_a_line_nested_too_deeply_is_a_problem_of_its_own() -> None:
    """It is named by its number, and nothing that looks into events has to bear it."""
    deep = b'{"text":"x","a":' + b"[" * 900 + b"]" * 900 + b"}\n"
    found, problems = records.events(b'{"text":"a"}\n' + deep + b'{"text":"b"}\n')
    assert [(event.text, event.line) for event in found] == [("a", 1), ("b", 3)]
    assert [problem.line for problem in problems] == [2]
