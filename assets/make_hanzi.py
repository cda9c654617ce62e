"""Build `assets/hanzi/simplified.txt` from OpenCC's characters: `python assets/make_hanzi.py TSCharacters.txt [OUT]`.

`TSCharacters.txt` is the dictionary of that name in opencc-python-reimplemented 0.1.7 (Apache-2.0, from OpenCC). A line
of the result is a traditional character and the first simplified one that OpenCC gives for it. Left out: characters
beyond the basic plane, which no vocabulary here has, and 乾, which simplified text writes too (乾坤, 乾隆).
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

KEPT = "乾"


def pairs(lines: list[str]) -> list[str]:
    """Traditional and simplified character, two in a string, by code point; no simplified one is folded again."""
    found = {}
    for line in lines:
        traditional, _, choices = line.partition("\t")
        simplified = choices.split()[0]
        if traditional not in {simplified, KEPT} and max(traditional + simplified) <= "\uffff":
            found[traditional] = simplified
    return sorted(traditional + found.get(simplified, simplified) for traditional, simplified in found.items())


def main(source: Path, out: Path) -> None:
    """Write the table and its checksum."""
    made = "".join(pair + "\n" for pair in pairs(source.read_text(encoding="utf-8").splitlines())).encode()
    out.mkdir(parents=True, exist_ok=True)
    (out / "simplified.txt").write_bytes(made)
    (out / "SHA256SUMS").write_text(f"{hashlib.sha256(made).hexdigest()}  simplified.txt\n", encoding="utf-8")
    print(f"{made.count(10)} characters")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent / "hanzi")
