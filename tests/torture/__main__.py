"""`python -m tests.torture [--short] [--out FILE] [GOAL…]`: attack every promise, and write a table of figures.

Full size takes about an hour on two processors; `--short` is what the default test run does, in a minute. The table is
Markdown: each goal with its tests, what they counted, and how long they took. Exit 1 where any test failed.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.torture.goals import GOALS, Goal

ROOT = Path(__file__).parents[2]


def attack(goal: Goal, *, short: bool) -> tuple[str, bool]:
    """Run a goal's tests; -> its row of the table, and whether all passed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        chosen = "not torture and not scale" if short else ""
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-m",
            chosen,
            "-o",
            "junit_family=xunit1",
            f"--junitxml={report}",
        ]
        # figures of speed are wrong beside a neighbour that takes the other processor
        command += ["-n", "0"] if goal.name == "R1" else ["--dist", "load"]
        begun = time.monotonic()
        done = subprocess.run([*command, *goal.tests], cwd=ROOT, capture_output=True, check=False, text=True)
        took = time.monotonic() - begun
        if done.returncode not in (0, 5):
            sys.stderr.write(done.stdout[-4000:] + done.stderr[-2000:])
        return row(goal, report, took), done.returncode in (0, 5)


def row(goal: Goal, report: Path, took: float) -> str:
    """One line of the table, from pytest's own report."""
    if not report.exists():
        return f"| {goal.name} | {goal.promise} | could not be run | | {took:.0f} |"
    suite = next(ET.parse(report).getroot().iter("testsuite"))
    count, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    told = [f"{entry.get('name')}: {entry.get('value')}" for entry in suite.iter("property") if entry.get("name")]
    outcome = f"{count - failed - skipped} of {count} passed" + (f", {skipped} skipped" if skipped else "")
    return f"| {goal.name} | {goal.promise} | {outcome} | {'<br>'.join(told)} | {took:.0f} |"


def head(*, short: bool) -> list[str]:
    """What was run, where and when."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, check=False, text=True
    )
    machine = (
        f"{os.cpu_count()} processors, {platform.system()} {platform.release()}, Python {platform.python_version()}"
    )
    size = "short" if short else "full"
    return [
        f"Commit {commit.stdout.strip() or '-'} · {machine} · {time.strftime('%Y-%m-%d %H:%M')} · {size} size",
        "",
        "| goal | promise | tests | figures | seconds |",
        "|---|---|---|---|---|",
    ]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="the sizes of the default test run")
    parser.add_argument("--out", type=Path, help="write the table here, too")
    parser.add_argument("goals", nargs="*", metavar="GOAL", help="R1 … S15, F; all by default")
    given = parser.parse_args()
    lines, sound = head(short=given.short), True
    sys.stdout.write("\n".join(lines) + "\n")
    for goal in GOALS:
        if given.goals and goal.name not in given.goals:
            continue
        line, passed = attack(goal, short=given.short)
        sound &= passed
        lines.append(line)
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        if given.out:
            given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
