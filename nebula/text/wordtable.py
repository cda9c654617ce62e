"""The word table: jieba's dictionary as one memory-mapped file, read without numpy.

It holds three things of jieba 0.42.1 that take long to load from its own files: the frequency of every word
and word beginning (`Frequencies`, stands where a tokenizer keeps its dict `FREQ`), the fixed IDF of the words
(`idf`), and the hidden Markov model's emission logarithms (`emissions`). `assets/make_words.py` writes it;
nothing here cuts text.

Layout, little-endian: header of 64 bytes (`HEADER`), then n sorted u64 hashes of the words, 4 × m f64
emissions (states B E M S; NaN where jieba has none), n i32 frequencies, n f32 IDFs (NaN where jieba has
none), m sorted u32 characters.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from nebula import places, reasons
from nebula.errors import AssetDamaged
from nebula.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

#: magic · n words · m characters · sum of the frequencies · median IDF · CRC-32 of all that follows
HEADER: Final = struct.Struct("<8sIIQdI28x")
MAGIC: Final = b"NEBWORD1"
STATES: Final = "BEMS"

#: A prime near 2**63.3 with no pattern in its bits: a word's hash is its UTF-16, one number, modulo this.
PRIME: Final = 11400714785074694791

#: Entries a cache holds before it is emptied: a mind's vocabulary fits, hostile text can't fill the memory.
CACHED: Final = 1 << 17


def words_file() -> Path:
    """Where the table lies: `nebula/assets/words/words.bin` in the wheel, `assets/words/words.bin` here."""
    return places.asset("words") / "words.bin"


def word_hash(word: str) -> int:
    """A word's u64 key, the same in every process and on every machine.

    Words of up to three characters never collide. Worked figure: `海` is U+6D77, so its key is 28023.
    """
    return int.from_bytes(word.encode("utf-16-le", "surrogatepass"), "little") % PRIME


def packed_length(words: int, characters: int) -> int:
    """Bytes of a table with that many words and characters, header included."""
    return HEADER.size + 16 * words + 36 * characters


class Frequencies:
    """jieba's `FREQ`: word or word beginning -> how often (a beginning that is no word: 0). Reads only."""

    def __init__(self, hashes: memoryview[int], counts: memoryview[int]) -> None:
        self._hashes = hashes
        self._counts = counts
        self._cache: dict[str, int] = {}

    def _find(self, word: str) -> int:
        """The frequency, -1 where the table has no such key."""
        key = word_hash(word)
        at = bisect_left(self._hashes, key)
        found = self._counts[at] if at < len(self._hashes) and self._hashes[at] == key else -1
        if len(self._cache) >= CACHED:
            self._cache = {}
        self._cache[word] = found
        return found

    def get(self, word: str, default: int | None = None) -> int | None:
        """The word's frequency, or `default`."""
        found = self._cache.get(word)
        if found is None:
            found = self._find(word)
        return default if found < 0 else found

    def __contains__(self, word: str) -> bool:
        found = self._cache.get(word)
        return (self._find(word) if found is None else found) >= 0

    def __getitem__(self, word: str) -> int:
        found = self._cache.get(word)
        if found is None:
            found = self._find(word)
        if found < 0:
            raise KeyError(word)
        return found

    def __len__(self) -> int:
        return len(self._hashes)


class Emissions:
    """One state of the hidden Markov model: character -> logarithm of its probability. Reads only."""

    def __init__(self, characters: memoryview[int], logs: memoryview[float]) -> None:
        self._characters = characters
        self._logs = logs
        self._cache: dict[str, float] = {}

    def get(self, character: str, default: float) -> float:
        """The character's logarithm in this state, or `default`."""
        found = self._cache.get(character)
        if found is None:
            code = ord(character)
            at = bisect_left(self._characters, code)
            known = at < len(self._characters) and self._characters[at] == code
            found = self._logs[at] if known else float("nan")
            # a table has 14,632 characters and only jieba's Han range is asked for: no bound needed
            self._cache[character] = found
        return found if found == found else default  # noqa: PLR0124 - false for NaN alone


class WordTable:
    """An open table. It stays mapped as long as the object lives."""

    def __init__(self, path: Path) -> None:
        """Map the table and check header and length.

        Raises AssetDamaged: missing, cut, unreadable or of another format. Content is checked by `check`.
        """
        self.path = path
        self._view = memoryview(_mapped(path))
        if len(self._view) < HEADER.size:
            raise AssetDamaged(path, because("cut"))
        magic, words, characters, total, median, self._crc = HEADER.unpack_from(self._view)
        if magic != MAGIC:
            raise AssetDamaged(path, because("other_version"))
        if len(self._view) != packed_length(words, characters):
            raise AssetDamaged(path, because("cut"))
        if not (words and characters and total > 0 and 0 < median < 100):
            raise AssetDamaged(path, because("damaged"))
        self.total: int = total
        self.median_idf: float = median
        rest = self._view[HEADER.size :]
        # widest first, so that each array starts at a multiple of its item's size
        self._hashes, rest = rest[: 8 * words].cast("Q"), rest[8 * words :]
        logs, rest = rest[: 32 * characters].cast("d"), rest[32 * characters :]
        counts, rest = rest[: 4 * words].cast("i"), rest[4 * words :]
        self._idf, rest = rest[: 4 * words].cast("f"), rest[4 * words :]
        codes = rest.cast("I")
        self.frequencies = Frequencies(self._hashes, counts)
        self.emissions = {
            state: Emissions(codes, logs[row * characters : (row + 1) * characters]) for row, state in enumerate(STATES)
        }

    def idf(self, word: str) -> float:
        """The word's fixed IDF (natural logarithm, 1 … 14); for a word without one the median of all."""
        key = word_hash(word)
        at = bisect_left(self._hashes, key)
        if at < len(self._hashes) and self._hashes[at] == key:
            value = self._idf[at]
            if value == value:  # noqa: PLR0124 - false for NaN alone
                return float(value)
        return self.median_idf

    def check(self) -> None:
        """Read all against the check sum (10 ms); raises AssetDamaged. For doctor, not for every start."""
        if zlib.crc32(self._view[HEADER.size :]) != self._crc:
            raise AssetDamaged(self.path, because("checksum"))


def _mapped(path: Path) -> mmap.mmap | bytes:
    """Map the file read-only; an empty one can't be mapped and gives no bytes."""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
    except OSError as error:
        raise AssetDamaged(path, reasons.of(error)) from error
