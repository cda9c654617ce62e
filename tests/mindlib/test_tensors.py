"""The flat array container: round trips, alignment, maps, and refusal of every kind of damage."""

from __future__ import annotations

import json
import stat
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nebula.mindlib import tensors
from nebula.mindlib.tensors import DTYPES, DamagedTensors

if TYPE_CHECKING:
    from pathlib import Path

ARRAYS = {
    "small": np.arange(3, dtype=np.uint8),
    "flags": np.array([True, False]),
    "halves": np.linspace(-2, 2, 5).astype(np.float16),
    "singles": np.arange(12, dtype=np.float32).reshape(3, 4),
    "long": np.array([-(2**62), 7], np.int64),
    "none": np.zeros((0, 512), np.float32),
    "one": np.array(5.0),
}


def raw(path: Path, header: object, data: bytes = b"", length: int | None = None) -> Path:
    """A file with this header, whatever it says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def entry(shape: object = (2,), offsets: object = (0, 8), dtype: object = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def test_round_trip(tmp_path: Path) -> None:
    """What is written comes back: names, formats, shapes, numbers, strings."""
    path = tmp_path / "a.nbx"
    tensors.write(path, ARRAYS, {"model": "海", "format": "1"}, sync=True)
    arrays, meta = tensors.read(path)
    assert meta == {"model": "海", "format": "1"}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert np.array_equal(arrays[name], array)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8).filter(lambda name: name != "__metadata__"),
        st.tuples(st.sampled_from(sorted(DTYPES)), st.lists(st.integers(0, 4), max_size=3)),
        max_size=5,
    )
)
@settings(max_examples=60, deadline=None)
def test_any_arrays_round_trip(tmp_path_factory: pytest.TempPathFactory, wanted: dict[str, Any]) -> None:
    """Every format and shape, empty ones included; equal input gives equal bytes."""
    path = tmp_path_factory.mktemp("t") / "x"
    given_ = {n: np.ones(shape, DTYPES[code]) for n, (code, shape) in wanted.items()}
    tensors.write(path, given_)
    found, _ = tensors.read(path)
    assert {n: (a.dtype, a.shape, a.sum()) for n, a in found.items()} == {
        n: (a.dtype, a.shape, a.sum()) for n, a in given_.items()
    }
    assert b"".join(tensors.dump(dict(reversed(given_.items())))) == path.read_bytes()


def test_arrays_are_aligned_read_only_views_of_one_map(tmp_path: Path) -> None:
    """No array is copied when read, none can be changed, each is aligned to its items."""
    path = tmp_path / "a"
    tensors.write(path, ARRAYS)
    arrays, _ = tensors.read(path)
    bases = set()
    for array in arrays.values():
        if array.size:
            assert not array.flags.writeable
            assert array.flags.aligned
            base = array
            while isinstance(base.base, np.ndarray):
                base = base.base
            bases.add(id(base.base.obj if isinstance(base.base, memoryview) else base.base))
    assert len(bases) == 1


def test_what_is_released_can_be_read_again(tmp_path: Path) -> None:
    """Views of a map, and arrays that are none."""
    made = np.arange(200_000, dtype=np.float32).reshape(-1, 8)
    tensors.write(tmp_path / "t", {"a": made})
    mapped = tensors.read(tmp_path / "t")[0]["a"]
    for array in (mapped, mapped[5:], made):
        before = array[3].tolist()
        tensors.release(array)
        assert array[3].tolist() == before
    assert (mapped == made).all()


def test_non_contiguous_and_foreign_order(tmp_path: Path) -> None:
    """Strided and big-endian arrays are stored by value."""
    given_ = {"t": np.arange(6, dtype=np.int32).reshape(2, 3).T, "b": np.array([1, 258], ">u2")}
    tensors.write(tmp_path / "a", given_)
    found, _ = tensors.read(tmp_path / "a")
    assert np.array_equal(found["t"], given_["t"])
    assert found["b"].tolist() == [1, 258]


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file can't be replaced on Windows")
def test_replacing_leaves_the_old_map_whole(tmp_path: Path) -> None:
    """A reader keeps what it mapped; the new file is private; no temporary file stays."""
    path = tmp_path / "a"
    tensors.write(path, {"x": np.zeros(1000)})
    old = tensors.read(path)[0]["x"]
    tensors.write(path, {"x": np.ones(10)})
    assert old.sum() == 0
    assert old.size == 1000
    assert tensors.read(path)[0]["x"].sum() == 10
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_unstorable(tmp_path: Path) -> None:
    """A format without a name is refused, and nothing is left behind."""
    with pytest.raises(ValueError, match="can't store c"):
        tensors.write(tmp_path / "a", {"c": np.zeros(2, np.complex128)})
    with pytest.raises(ValueError, match="__metadata__"):
        tensors.write(tmp_path / "a", {"__metadata__": np.zeros(2)})
    assert list(tmp_path.iterdir()) == []


DAMAGED: dict[str, tuple[object, bytes, str]] = {
    "no json": (b"{nope", b"", "header: 第 2 个字符处不合 JSON"),
    "no object": ([1], b"", "header: 不是 JSON 对象"),
    "meta is a list": ({"__metadata__": []}, b"", "__metadata__"),
    "meta holds numbers": ({"__metadata__": {"a": 1}}, b"", "__metadata__"),
    "entry is a number": ({"a": 1}, b"", "a: 不是 JSON 对象"),
    "unknown dtype": ({"a": entry(dtype="Q8")}, b"12345678", "a: dtype Q8"),
    "dtype is a list": ({"a": entry(dtype=[])}, b"12345678", r"a: dtype \[\]"),
    "no shape": ({"a": entry(shape=None)}, b"12345678", "a: shape"),
    "negative shape": ({"a": entry(shape=[-2])}, b"12345678", "a: shape"),
    "boolean shape": ({"a": entry(shape=[True, 2])}, b"12345678", "a: shape"),
    "fractional shape": ({"a": entry(shape=[2.0])}, b"12345678", "a: shape"),
    "forty axes": ({"a": entry(shape=[1] * 40)}, b"12345678", "a: shape"),
    "one offset": ({"a": entry(offsets=[8])}, b"12345678", "a: data_offsets"),
    "backwards": ({"a": entry(offsets=[8, 0])}, b"12345678", "≠ -8"),
    "size lie": ({"a": entry(shape=[3])}, b"12345678", "≠ 8"),
    "huge shape": ({"a": entry(shape=[2**62, 2**62])}, b"12345678", "≠ 8"),
    "overlap": ({"a": entry(), "b": entry(offsets=[4, 12])}, b"x" * 12, "b: 4 ≠ 8"),
    "hole": ({"a": entry(), "b": entry(offsets=[16, 24])}, b"x" * 24, "b: 16 ≠ 8"),
    "cut": ({"a": entry()}, b"1234567", "header: 7 ≠ 8"),
    "tail": ({"a": entry()}, b"123456789", "header: 9 ≠ 8"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damage_is_refused(tmp_path: Path, kind: str) -> None:
    """Each lie of a header is named, before anything is mapped."""
    header, data, reason = DAMAGED[kind]
    with pytest.raises(DamagedTensors, match=reason):
        tensors.read(raw(tmp_path / "a", header, data))


@pytest.mark.parametrize(("length", "reason"), [(2**63, "> 1"), (100_000_001, "> 1"), (500, "header: .* < 508")])
def test_header_length_lies(tmp_path: Path, length: int, reason: str) -> None:
    """A header longer than the file or than 100 MB is not read."""
    with pytest.raises(DamagedTensors, match=reason):
        tensors.read(raw(tmp_path / "a", {}, length=length))


def test_every_cut_is_refused(tmp_path: Path) -> None:
    """A file that ends at any earlier byte is damaged, never half read."""
    path = tmp_path / "a"
    tensors.write(path, {"x": np.arange(5), "y": np.zeros(3, np.uint8)}, {"k": "v"})
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(DamagedTensors):
            tensors.read(path)


@given(st.integers(0, 10_000), st.integers(0, 255))
@settings(max_examples=150, deadline=None)
def test_a_flipped_byte_never_crashes(tmp_path_factory: pytest.TempPathFactory, at: int, value: int) -> None:
    """Whatever byte changes, reading gives arrays or DamagedTensors."""
    path = tmp_path_factory.mktemp("t") / "x"
    whole = bytearray(b"".join(tensors.dump({"x": np.arange(5), "y": np.zeros(3, np.uint8)}, {"k": "v"})))
    whole[at % len(whole)] = value
    path.write_bytes(whole)
    try:
        for array in tensors.read(path)[0].values():
            array.sum()
    except DamagedTensors:
        pass


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    """Absence is not damage."""
    with pytest.raises(FileNotFoundError):
        tensors.read(tmp_path / "none")
