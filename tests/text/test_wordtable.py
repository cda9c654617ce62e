"""The word table: its bytes, its answers against jieba's own files, and what a damaged one costs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nebula.errors import AssetDamaged
from nebula.text import wordtable
from nebula.text.wordtable import HEADER, WordTable, word_hash, words_file

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def jieba_folder() -> Path:
    spec = importlib.util.find_spec("jieba")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@pytest.fixture(scope="module")
def table() -> WordTable:
    return WordTable(words_file())


def test_hash_is_the_same_everywhere() -> None:
    """Pinned: hashes are on disk, so a change of `word_hash` needs a new table."""
    assert word_hash("海") == 0x6D77
    assert word_hash("") == 0
    assert word_hash("记忆像海") == 0x6D77_50CF_5FC6_8BB0
    assert word_hash("\ud800") == 0xD800


def test_every_frequency_is_jieba_s(table: WordTable, jieba_folder: Path) -> None:
    """All 498,113 keys: words have dict.txt's last count, beginnings 0; the sum is over all lines."""
    words: dict[str, int] = {}
    total = 0
    for line in (jieba_folder / "dict.txt").read_text("utf-8").splitlines():
        word, count, *_ = line.split(" ")
        words[word] = int(count)
        total += int(count)
    beginnings = {word[:end] for word in words for end in range(1, len(word))}
    keys = {**dict.fromkeys(beginnings, 0), **words}
    assert len(table.frequencies) == len(keys) == 498_113
    assert table.total == total == 60_101_967
    wrong = [word for word, count in keys.items() if table.frequencies.get(word) != count]
    assert wrong == []


def test_answers_as_a_dict_does(table: WordTable) -> None:
    """`get`, `in` and `[]` for a word, a beginning that is no word, and neither; then from the cache."""
    for _ in range(2):
        assert table.frequencies["灯塔"] == table.frequencies.get("灯塔") != 0
        assert "乘风破" in table.frequencies
        assert table.frequencies["乘风破"] == 0
        assert "灯塔看守猫" not in table.frequencies
        assert table.frequencies.get("灯塔看守猫") is None
        assert table.frequencies.get("灯塔看守猫", 7) == 7
        with pytest.raises(KeyError):
            table.frequencies["灯塔看守猫"]


def test_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Foreign words can't fill the memory, and answers stay right when the cache is emptied."""
    monkeypatch.setattr(wordtable, "CACHED", 8)
    table = WordTable(words_file())
    assert not any(f"无{number}" in table.frequencies for number in range(50))
    assert "灯塔" in table.frequencies
    assert len(table.frequencies._cache) <= 8


def test_idf_is_jieba_s(table: WordTable, jieba_folder: Path) -> None:
    """idf.txt within f32 for every word that dict.txt knows, the median (11.9548) for all others."""
    pairs = (line.split(" ") for line in (jieba_folder / "analyse/idf.txt").read_text("utf-8").splitlines())
    listed = {word: float(value) for word, value in pairs}
    assert table.median_idf == sorted(listed.values())[len(listed) // 2] == 11.9547675029
    known = [word for word in listed if word in table.frequencies]
    assert len(known) == 255_914
    assert all(abs(table.idf(word) - listed[word]) < 1e-5 for word in known)
    assert table.idf("灯塔看守猫") == table.idf("nebula") == table.median_idf


def test_emissions_are_jieba_s(table: WordTable, jieba_folder: Path) -> None:
    """Every logarithm of the four states bit for bit, and the default for a character without one."""
    source = jieba_folder / "finalseg" / "prob_emit.py"
    namespace: dict[str, dict[str, dict[str, float]]] = {}
    exec(compile(source.read_text("utf-8"), str(source), "exec"), namespace)
    for state, column in namespace["P"].items():
        ours = table.emissions[state]
        assert all(ours.get(character, 1.0) == value for character, value in column.items())
        assert ours.get("A", -3.14e100) == ours.get("A", -3.14e100) == -3.14e100


def cut_short(data: bytes) -> bytes:
    return data[:-1]


def cut_to_header(data: bytes) -> bytes:
    return data[:20]


def nothing(_: bytes) -> bytes:
    return b""


def other_magic(data: bytes) -> bytes:
    return b"NEBWORD9" + data[8:]


def lying_count(data: bytes) -> bytes:
    return data[:8] + b"\xff\xff\xff\xff" + data[12:]


def no_total(data: bytes) -> bytes:
    return data[:16] + bytes(8) + data[24:]


@pytest.mark.parametrize(
    "damage",
    [cut_short, cut_to_header, nothing, other_magic, lying_count, no_total],
    ids=lambda f: f.__name__,
)
def test_a_damaged_table_is_refused(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """Header and length are judged before anything is read; the error names the file."""
    path = tmp_path / "words.bin"
    path.write_bytes(damage(words_file().read_bytes()))
    with pytest.raises(AssetDamaged) as caught:
        WordTable(path)
    assert caught.value.facts["path"] == path


def test_a_missing_table_is_refused(tmp_path: Path) -> None:
    """No file, or a folder in its place."""
    for path in (tmp_path / "none.bin", tmp_path):
        with pytest.raises(AssetDamaged):
            WordTable(path)


def test_check_sees_one_flipped_bit(tmp_path: Path, table: WordTable) -> None:
    """The content is judged by the check sum, on request."""
    table.check()
    data = bytearray(words_file().read_bytes())
    data[HEADER.size + 4_000_000] ^= 1
    path = tmp_path / "words.bin"
    path.write_bytes(data)
    with pytest.raises(AssetDamaged):
        WordTable(path).check()


@pytest.mark.process
def test_the_table_can_be_built_again(tmp_path: Path) -> None:
    """`assets/make_words.py` over the installed jieba gives the shipped bytes."""
    script = Path(__file__).parents[2] / "assets" / "make_words.py"
    out = tmp_path / "words.bin"
    subprocess.run([sys.executable, str(script), str(out)], check=True, capture_output=True)
    assert out.read_bytes() == words_file().read_bytes()
