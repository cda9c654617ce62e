"""What the project takes from others: how much, under which licences, and what an audit of it found.

    supply.py check          the licence of every locked package is allowed and listed; at most 20 packages by default
    supply.py list           write licences.txt anew from what is installed
    supply.py audit REPORT   read pip-audit's JSON report; "not run" where it could not look every package up

Run it by the interpreter that the lock was installed for. Exits 1 where a check failed.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
LOCK, LICENCES = HERE / "lock.txt", HERE / "licences.txt"
PROJECT = "nebula-mind"
AT_MOST = 20
#: What may be used, in SPDX's words; any of an `OR`, each of an `AND`.
ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "HPND", "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0"),
    # of psycopg alone, an extra: a library that is loaded as it is, and may be replaced by the user
    "LGPL-3.0-only",
    *("PSF-2.0", "Python-2.0", "Unlicense", "Zlib", "CC0-1.0"),
}
#: How packages without an SPDX expression say it.
SAID = {
    "MIT License": "MIT",
    "The MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "BSD License": "BSD",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}


def locked(text: str) -> dict[str, str]:
    """Name -> version of every package of a lock. Raises ValueError for a line without hashes or with an address."""
    found = {}
    for block in re.split(r"\n(?=\S)", text.strip()):
        head = re.match(r"([A-Za-z0-9._-]+)==(\S+)", block)
        if head is None or "--hash=sha256:" not in block or "://" in block:
            raise ValueError(f"not a pinned package with hashes: {block.splitlines()[0]}")
        found[canonical(head[1])] = head[2]
    return found


def canonical(name: str) -> str:
    """A package's name as it is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(found: metadata.PackageMetadata) -> str:
    """A package's licence by its own metadata: the SPDX expression, else the classifiers, else the short text."""
    if found.get("License-Expression"):
        return found["License-Expression"]
    named = [line.rsplit(" :: ", 1)[1] for line in found.get_all("Classifier") or [] if line.startswith("License :: ")]
    named = [name for name in named if name not in {"OSI Approved", "DFSG approved"}]
    said = named or [(found.get("License") or "").strip().split("\n")[0]]
    return " AND ".join(sorted(SAID.get(name, name) for name in said)) or "?"


def is_allowed(expression: str) -> bool:
    """Whether an expression names only what may be used."""
    plain = expression.replace("(", " ").replace(")", " ")
    return all(any(one.strip() in ALLOWED for one in part.split(" OR ")) for part in plain.split(" AND "))


def installed_licences() -> dict[str, str]:
    """Name -> licence of what is locked and installed; what the lock has for other systems is not there."""
    names = locked(LOCK.read_text(encoding="utf-8"))
    every = {canonical(one.metadata["Name"]): one for one in metadata.distributions()}
    return {name: licence(every[name].metadata) for name in sorted(names) if name in every}


def default_packages() -> set[str]:
    """All that an install without extras brings along."""
    from packaging.requirements import Requirement

    found: set[str] = set()
    queue = [PROJECT]
    while queue:
        for line in metadata.requires(queue.pop()) or []:
            wanted = Requirement(line)
            name = canonical(wanted.name)
            if name not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
                found.add(name)
                queue.append(name)
    return found


def check() -> list[str]:
    """What is wrong, nothing where all is well."""
    now = installed_licences()
    listed = dict(line.split("  ", 1) for line in LICENCES.read_text(encoding="utf-8").splitlines() if line)
    wrong = [f"{name}: licence {said} is not allowed" for name, said in now.items() if not is_allowed(said)]
    wrong += [f"{name}: {said} is not listed in licences.txt" for name, said in now.items() if listed.get(name) != said]
    count = len(default_packages())
    return wrong + ([f"{count} default packages > {AT_MOST}"] if count > AT_MOST else [])


def verdict(report: str, wanted: dict[str, str]) -> tuple[str, int]:
    """(what an audit's report says in one line, exit code). Passed is only what was looked up, every package of it."""
    try:
        found = json.loads(report)["dependencies"]
        seen = {canonical(one["name"]): one for one in found}
        flaws = {name: one["vulns"] for name, one in seen.items() if one.get("vulns")}
        skipped = [name for name in wanted if name not in seen or "vulns" not in seen[name]]
    except (ValueError, KeyError, TypeError, AttributeError):
        return "audit: NOT RUN, there is no report", 0
    if flaws:
        told = "; ".join(f"{name} {', '.join(flaw['id'] for flaw in found)}" for name, found in sorted(flaws.items()))
        return f"audit: FAILED: {told}", 1
    if skipped:
        return f"audit: NOT RUN for {len(skipped)} of {len(wanted)} packages: {', '.join(skipped[:8])} …", 0
    return f"audit: passed, {len(wanted)} packages looked up", 0


def main(argv: list[str]) -> int:
    """Run one of the three."""
    if argv[:1] == ["list"]:
        LICENCES.write_text("".join(f"{n}  {said}\n" for n, said in installed_licences().items()), encoding="utf-8")
        return 0
    if argv[:1] == ["audit"]:
        report = Path(argv[1])
        text = report.read_text(encoding="utf-8") if report.is_file() else ""
        said, code = verdict(text, locked(LOCK.read_text(encoding="utf-8")))
        print(said)
        return code
    wrong = check()
    print("\n".join(wrong) or f"supply: {len(installed_licences())} packages, licences allowed and listed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
