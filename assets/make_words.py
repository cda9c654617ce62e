"""Build `assets/words/words.bin` from the installed jieba 0.42.1: `python assets/make_words.py [OUT]`.

The table holds jieba's prefix dictionary (dict.txt), its IDF list (analyse/idf.txt) and the emission table of
its hidden Markov model (finalseg/prob_emit.py), laid out as `nebula/text/wordtable.py` describes. The same
jieba gives the same bytes on every machine. Runs once per jieba version; the program itself only reads the
result.
"""

from __future__ import annotations

import math
import runpy
import struct
import sys
import zlib
from importlib import metadata, util
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from nebula.text.wordtable import HEADER, MAGIC, STATES, packed_length, word_hash

VERSION = "0.42.1"
NAN = math.nan


def jieba_folder() -> Path:
    """The installed jieba, found without importing it. Any other version would be another table: refused."""
    found = metadata.version("jieba")
    spec = util.find_spec("jieba")
    if found != VERSION or spec is None or spec.origin is None:
        sys.exit(f"jieba {VERSION} is needed, found {found}")
    return Path(spec.origin).parent


def frequencies(dictionary: Path) -> tuple[dict[str, int], int]:
    """Word -> frequency, every beginning of a word that is no word -> 0; the sum (jieba's gen_pfdict)."""
    words: dict[str, int] = {}
    total = 0
    for line in dictionary.read_text("utf-8").splitlines():
        word, count = line.split(" ")[:2]
        words[word] = int(count)
        # a word that stands twice keeps its last frequency and counts twice in the sum, as in jieba
        total += int(count)
    for word in list(words):
        for end in range(1, len(word)):
            words.setdefault(word[:end], 0)
    return words, total


def idf_list(path: Path) -> dict[str, float]:
    """Word -> IDF, all of jieba's list."""
    pairs = (line.split(" ") for line in path.read_text("utf-8").splitlines())
    return {word: float(value) for word, value in pairs}


def pack(words: dict[str, int], total: int, idf: dict[str, float], emit: dict[str, dict[str, float]]) -> bytes:
    """The whole file. Two words with one hash would make one of them vanish: refused."""
    order = sorted(words, key=word_hash)
    hashes = [word_hash(word) for word in order]
    if len(set(hashes)) != len(hashes):
        sys.exit("two words share a hash: choose another prime")
    characters = sorted({character for column in emit.values() for character in column})
    n, m = len(order), len(characters)
    logs = [emit[state].get(character, NAN) for state in STATES for character in characters]
    body = b"".join(
        (
            struct.pack(f"<{n}Q", *hashes),
            struct.pack(f"<{4 * m}d", *logs),
            struct.pack(f"<{n}i", *(words[word] for word in order)),
            struct.pack(f"<{n}f", *(idf.get(word, NAN) for word in order)),
            struct.pack(f"<{m}I", *map(ord, characters)),
        )
    )
    # the median as jieba's own TF-IDF takes it: the upper middle of all values
    median = sorted(idf.values())[len(idf) // 2]
    table = HEADER.pack(MAGIC, n, m, total, median, zlib.crc32(body)) + body
    if len(table) != packed_length(n, m):
        sys.exit("the layout and packed_length differ")
    return table


def main(arguments: list[str]) -> None:
    """Write the table and say what it holds."""
    out = Path(arguments[0]) if arguments else Path(__file__).parent / "words" / "words.bin"
    source = jieba_folder()
    emit = runpy.run_path(str(source / "finalseg" / "prob_emit.py"))["P"]
    table = pack(*frequencies(source / "dict.txt"), idf_list(source / "analyse" / "idf.txt"), emit)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(table)
    print(f"{out.name}: {len(table)} bytes, crc {zlib.crc32(table):08x}")


if __name__ == "__main__":
    main(sys.argv[1:])
