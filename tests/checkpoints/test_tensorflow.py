"""TensorFlow's checkpoints, read and written without TensorFlow; `tools/tensorflow_checkpoints.py` made the files."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pullback as pb
from pullback.checkpoints.crc32c import crc32c, masked
from pullback.checkpoints.messages import messages
from pullback.checkpoints.ordered_code import key_of_part
from pullback.checkpoints.snappy import uncompressed
from pullback.checkpoints.sorted_table import read_table, write_table
from pullback.checkpoints.tensor_bundle import read_bundle, write_bundle
from pullback.checkpoints.tensorflow_files import names_of_objects, read_tensorflow
from pullback.checkpoints.varints import varint
from pullback.core.errors import (
    DataLossError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    UnimplementedError,
)
from pullback.core.limits import limited

FOLDER = Path(__file__).parent / "tensorflow"
LARGEST = {"bool": True, "complex64": 1.5 - 2j, "complex128": 1.5 - 2j, "bfloat16": ml_dtypes.finfo("bfloat16").max}
WORDS = [[b"", b"one"], [b"\x00\xff", "zwölf".encode()]]


def refused(error: type[Exception], act: Callable[[], Any]) -> str:
    """The message of the exception of class `error` that `act` raises."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


def largest(dtype: np.dtype[Any]) -> Any:
    """The last number that the files have of a dtype."""
    if dtype.name in LARGEST:
        return LARGEST[dtype.name]
    return (np.finfo if dtype.kind == "f" else np.iinfo)(dtype).max


# What TensorFlow wrote


@pytest.mark.parametrize("name", ["dtypes-7", "old_dtypes-7"])
def test_every_dtype_is_read_bit_by_bit(name: str) -> None:
    reader = pb.train.load_checkpoint(FOLDER / name)
    names = [key for key in reader.arrays if key.startswith("numbers/")]
    assert len(names) == (15 if name == "dtypes-7" else 10)
    for key in names:
        found, wanted = reader.get_tensor(key), np.array([[0, 1], [2, 0]]).astype(key.removeprefix("numbers/"))
        wanted[1, 1] = largest(wanted.dtype)
        assert (found.dtype, found.tobytes()) == (wanted.dtype, wanted.tobytes())
    assert reader.get_tensor("nothing").shape == (0, 3)
    assert reader.get_tensor("one") == np.float32(3.5)


def test_texts_are_bytes() -> None:
    assert pb.train.load_variable(FOLDER / "dtypes-7", "words").tolist() == WORDS
    assert pb.train.load_variable(FOLDER / "dtypes-7", "long_word").item() == b"x" * 300


@pytest.mark.parametrize("name", ["parts-7", "old_parts-7"])
def test_parts_are_put_together(name: str) -> None:
    reader = pb.train.load_checkpoint(FOLDER / name)
    assert reader.get_variable_to_shape_map() == {"rows": [7, 5], "columns": [2, 100], "whole": [2]}
    assert (reader.get_tensor("rows") == np.arange(35, dtype=np.float32).reshape(7, 5)).all()
    assert (reader.get_tensor("columns") == np.arange(200).reshape(2, 100)).all()


@pytest.mark.parametrize("name", ["sharded-7", "old_sharded-7", "old_sharded-7-?????-of-00003"])
def test_files_of_several_devices_are_one_checkpoint(name: str) -> None:
    reader = pb.train.load_checkpoint(FOLDER / name)
    assert {n: reader.get_tensor(n).tolist() for n in reader.arrays} == {f"on_{i}": [i, i + 0.5] for i in range(3)}


def test_the_folder_knows_its_latest_checkpoint() -> None:
    assert pb.train.latest_checkpoint(FOLDER) == str(FOLDER / "many-7")
    assert pb.train.list_variables(FOLDER)[3] == ("a/" + "long/" * 10 + "name_003", [2])
    assert pb.train.load_variable(FOLDER, "a/" + "long/" * 10 + "name_039").tolist() == [39, 39**2]


def test_checkpoints_exist_by_what_is_there() -> None:
    names = ["dtypes-7", "old_parts-7", "old_sharded-7", "dtypes-8", "dtypes-7.index"]
    assert [pb.train.checkpoint_exists(FOLDER / name) for name in names] == [True, True, True, False, False]


@pytest.mark.parametrize("name", ["parts-7", "old_parts-7"])
def test_a_session_is_given_what_a_checkpoint_has(name: str) -> None:
    rows, whole = pb.Variable(pb.zeros([7, 5]), name="rows"), pb.Variable([0.0, 0.0], name="whole")
    session = pb.Session(engine="numpy")
    pb.train.Saver().restore(session, FOLDER / name)
    assert session.run([rows[6, 4], whole])[0] == 34.0
    assert session.run(whole).tolist() == [1.0, 2.0]


def test_variables_of_objects_are_found_by_their_names_and_by_their_keys() -> None:
    kernel = pb.Variable(pb.zeros([2, 2]), name="dense/kernel")
    step = pb.Variable(np.int64(0), name="count")
    session = pb.Session(engine="numpy")
    variables = {"dense/kernel": kernel, "step/.ATTRIBUTES/VARIABLE_VALUE": step}
    pb.train.Saver(variables).restore(session, FOLDER / "objects")
    assert session.run(kernel).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert session.run(step) == 12


def test_what_does_not_fit_is_refused_by_name() -> None:
    v = pb.Variable([1.0, 2.0, 3.0], name="whole")
    saver, session = pb.train.Saver(), pb.Session(engine="numpy")
    path = FOLDER / "parts-7"
    assert refused(InvalidArgumentError, lambda: saver.restore(session, path)) == (
        f"restore: the variable 'whole' is float32[3], but {path} has float32[2] for it"
    )
    other = pb.train.Saver({"w": v})
    assert refused(NotFoundError, lambda: other.restore(session, path)) == (
        f"restore: {path} has no variable 'w' (float32[3]); it has columns, rows, whole"
    )


# What is written


def test_what_is_written_is_read(tmp_path: Path) -> None:
    arrays = read_bundle(FOLDER / "dtypes-7") | {f"e4/{i}": np.int8(i) for i in range(100)}
    write_bundle(tmp_path / "model", arrays)
    found = read_bundle(tmp_path / "model")
    assert list(found) == sorted(arrays, key=str.encode)
    for name, array in arrays.items():
        same = found[name]
        assert (same.dtype, same.shape, same.tolist()) == (array.dtype, np.shape(array), array.tolist())


def test_the_bytes_are_those_that_tensorflow_writes(tmp_path: Path) -> None:
    write_bundle(tmp_path / "dtypes-7", read_bundle(FOLDER / "dtypes-7"))
    data = "dtypes-7.data-00000-of-00001"
    assert sorted((tmp_path / data).read_bytes()) == sorted((FOLDER / data).read_bytes())
    with limited("test") as reading:
        written, theirs = (read_table(folder / "dtypes-7.index", reading) for folder in (tmp_path, FOLDER))
    assert written.keys() == theirs.keys()
    assert written[b""] == theirs[b""]
    kind = messages().BundleEntry
    for key in theirs.keys() - {b""}:
        ours, other = kind.FromString(written[key]), kind.FromString(theirs[key])
        assert (ours.crc32c, ours.size, ours.dtype, ours.shape) == (other.crc32c, other.size, other.dtype, other.shape)


def test_a_saver_writes_them_notes_them_and_takes_the_old_ones_away(tmp_path: Path) -> None:
    w = pb.get_variable("w", [3])
    noise = pb.random.normal([2])
    session, saver = pb.Session(engine="numpy"), pb.train.Saver(max_to_keep=2)
    session.run([pb.global_variables_initializer(), noise])
    paths = [saver.save(session, tmp_path / "model", step, format="tensorflow") for step in range(3)]
    assert paths[-1] == str(tmp_path / "model-2")
    kept = [f"model-{i}.{end}" for i in (1, 2) for end in ("data-00000-of-00001", "index", "meta")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", *kept]
    assert (tmp_path / "checkpoint").read_text() == (
        'model_checkpoint_path: "model-2"\n'
        'all_model_checkpoint_paths: "model-1"\nall_model_checkpoint_paths: "model-2"\n'
    )
    before = session.run([w, noise])
    again = pb.Session(engine="numpy")
    saver.restore(again, pb.train.latest_checkpoint(tmp_path))
    assert all((a == b).all() for a, b in zip(before, again.run([w, noise]), strict=True))
    assert pb.train.list_variables(tmp_path) == [("w", [3])]


def test_names_of_all_kinds_are_noted_and_found(tmp_path: Path) -> None:
    pb.Variable(1.0)
    session, saver = pb.Session(engine="numpy"), pb.train.Saver()
    session.run(pb.global_variables_initializer())
    path = saver.save(session, tmp_path / 'a "b" \\ [zwölf] *', format="tensorflow")
    assert pb.train.latest_checkpoint(tmp_path) == path
    assert pb.train.list_variables(path) == [("Variable", [])]


def test_there_are_two_formats(tmp_path: Path) -> None:
    pb.Variable(1.0)
    save: Any = pb.train.Saver().save
    assert refused(ValueError, lambda: save(pb.Session(engine="numpy"), tmp_path / "m", format="hdf5")) == (
        "Saver.save: no format 'hdf5'; there are pullback, tensorflow"
    )


# Tables, codes, checksums


def test_a_table_of_many_blocks_is_read_as_it_was(tmp_path: Path) -> None:
    entries = {f"key/{i:05}".encode(): bytes([i % 256]) * (i % 7) for i in range(2000)}
    with open(tmp_path / "table", "wb") as file:
        write_table(file, entries, block_size=100)
    with limited("test") as reading:
        assert read_table(tmp_path / "table", reading) == entries


def test_checksums_are_those_of_the_standard() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(np.zeros(32, np.uint8)) == 0x8A9136AA
    assert crc32c(np.zeros((0, 3))) == 0


@pytest.mark.parametrize(
    ("number", "code"),
    [(0, "80"), (63, "bf"), (64, "c040"), (-64, "40"), (-65, "3fbf"), (2**62, "ffc04000000000000000"), (-1, "7f")],
)
def test_numbers_in_keys_sort_as_numbers_do(number: int, code: str) -> None:
    assert key_of_part("", [(number, number)])[5:].hex() == code * 2


def test_compressed_blocks_are_read() -> None:
    literal = bytes([4 << 2]) + b"abcde"
    near = bytes([(6 - 4) << 2 | 1, 5])
    overlapping = bytes([9 << 2 | 2]) + struct.pack("<H", 1)
    far = bytes([1 << 2 | 3]) + struct.pack("<I", 21)
    long = bytes([60 << 2, 69]) + b"y" * 70
    with limited("test") as reading:
        found = uncompressed(varint(93) + literal + near + overlapping + far + long, reading)
    assert found == b"abcdeabcdea" + b"a" * 10 + b"ab" + b"y" * 70


# What is wrong with a file


def copied(folder: Path, name: str) -> list[Path]:
    """The files of a checkpoint in another folder."""
    for path in FOLDER.glob(f"{name}*"):
        (folder / path.name).write_bytes(path.read_bytes())
    return sorted(folder.iterdir())


def read_all(prefix: Path) -> dict[str, Any]:
    """All arrays of a checkpoint."""
    reader = pb.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name).tolist() for name in reader.arrays}


@pytest.mark.parametrize("name", ["parts-7", "dtypes-7", "old_parts-7", "sharded-7"])
def test_a_flipped_or_missing_byte_is_refused_or_changes_nothing(name: str, tmp_path: Path) -> None:
    whole = repr(read_all(FOLDER / name))
    for path in copied(tmp_path, name):
        data = path.read_bytes()
        for place in range(0, len(data), 23):
            for changed in (data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :], data[:place]):
                path.write_bytes(changed)
                try:
                    found = repr(read_all(tmp_path / name))
                except (DataLossError, NotFoundError):
                    found = whole
                assert found == whole
        path.write_bytes(data)


@pytest.mark.parametrize("name", ["parts-7", "dtypes-7", "objects", "old_parts-7", "old_dtypes-7"])
def test_a_damaged_index_with_right_checksums_is_refused_or_read(name: str, tmp_path: Path) -> None:
    copied(tmp_path, name)
    index = tmp_path / (name if name.startswith("old") else f"{name}.index")
    with limited("test") as reading:
        table = read_table(index, reading)
    outcomes = set()
    for number in range(100):
        with open(index, "wb") as file:
            write_table(file, damaged(table, Random(number)))
        try:
            names_of_objects(tmp_path / name, read_tensorflow(tmp_path / name))
            read_all(tmp_path / name)
            outcomes.add("read")
        except (DataLossError, NotFoundError, ResourceExhaustedError, UnimplementedError) as error:
            outcomes.add(type(error).__name__)
    assert "DataLossError" in outcomes


def damaged(table: dict[bytes, bytes], random: Random) -> dict[bytes, bytes]:
    """A table of which one value, or key, is another."""
    table = dict(table)
    key = random.choice(list(table))
    value, kind = bytearray(table[key]), random.randrange(4)
    if kind == 0 and value:
        value[random.randrange(len(value))] = random.randrange(256)
    elif kind == 1:
        del value[random.randrange(len(value) + 1) :]
    elif kind == 2:
        del table[key]
        key = random.randbytes(random.randrange(5)) + key[: random.randrange(len(key) + 1)]
    else:
        place = random.randrange(len(value) + 1)
        value[place:place] = random.randbytes(random.randrange(9))
    return {**table, key: bytes(value)}


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    message = messages().SavedTensorSlices()
    message.meta.tensor.add(name="abc", type=1).shape.SetInParent()
    with open(tmp_path / "model", "wb") as file:
        write_table(file, {b"": message.SerializeToString().replace(b"abc", b"a\xffc")})
    assert refused(DataLossError, lambda: read_all(tmp_path / "model")) == (
        f"{tmp_path / 'model'} is damaged: b'a\\xffc' is no name"
    )


def bundle_of(folder: Path, entries: dict[bytes, Any]) -> Path:
    """A bundle whose index says what it is told to, with right checksums."""
    header = messages().BundleHeader(num_shards=1)
    table = {b"": header.SerializeToString()} | {key: e.SerializeToString() for key, e in entries.items()}
    with open(folder / "model.index", "wb") as file:
        write_table(file, table)
    (folder / "model.data-00000-of-00001").write_bytes(b"\0" * 8)
    return folder / "model"


def an_entry(lengths: list[int], size: int = 8, dtype: int = 1, **fields: Any) -> Any:
    """The entry of an array of these lengths."""
    entry = messages().BundleEntry(dtype=dtype, size=size, crc32c=masked(crc32c(b"\0" * 8)), **fields)
    for length in lengths:
        entry.shape.dim.add().size = length
    return entry


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (an_entry([-1, 2]), "index is damaged: 'w' has the shape [-1, 2]"),
        (an_entry([1] * 65), "index is damaged: 'w' has the shape"),
        (an_entry([2], dtype=77), "index is damaged: the dtype of 'w': 77 is no number of a data type"),
        (an_entry([3]), "index is damaged: 'w', float32[3], has 8 bytes"),
        (an_entry([2**40, 2**40]), "has 8 bytes"),
        (an_entry([2], shard_id=1), "index is damaged: the place of 'w' is nowhere"),
        (an_entry([2], offset=-8), "index is damaged: the place of 'w' is nowhere"),
        (an_entry([2], offset=2**62), "is not a whole checkpoint: it ends before 'w' does"),
        (an_entry([2], offset=1), "is not a whole checkpoint: it ends before 'w' does"),
        (an_entry([9], dtype=7), "is not a whole checkpoint: the lengths of the texts of 'w' are torn"),
        (an_entry([], dtype=7), "was changed: 'w' has another checksum"),
        (an_entry([2**60], dtype=7), "the lengths of the texts of 'w' are torn"),
        (an_entry([2], slices=[messages().TensorSlice()]), "index is damaged: 'w' lacks its part []"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_index_that_says_what_cannot_be_is_refused(entry: Any, message: str, tmp_path: Path) -> None:
    prefix = bundle_of(tmp_path, {b"w": entry})
    assert message in refused(DataLossError, lambda: read_all(prefix))


def test_parts_must_be_the_whole(tmp_path: Path) -> None:
    entry = an_entry([4])
    entry.slices.add().extent.add(start=0, length=2)
    prefix = bundle_of(tmp_path, {b"w": entry, key_of_part("w", [(0, 2)]): an_entry([2])})
    assert refused(DataLossError, lambda: read_all(prefix)) == (
        f"{prefix} is not a whole checkpoint: 'w' has 2 of its 4 elements"
    )


def test_a_part_of_terabytes_is_beyond_a_limit(tmp_path: Path) -> None:
    entry = an_entry([2**40], size=0)
    entry.slices.add().extent.add(start=0, length=2)
    prefix = bundle_of(tmp_path, {b"w": entry, key_of_part("w", [(0, 2)]): an_entry([2])})
    assert refused(ResourceExhaustedError, lambda: read_all(prefix)).startswith(
        "load_checkpoint: this takes more than 1,073,741,824 bytes for one array."
    )


def test_an_index_of_many_entries_is_beyond_a_limit() -> None:
    with pb.config.Limits(nodes=20):
        message = refused(ResourceExhaustedError, lambda: pb.train.load_checkpoint(FOLDER / "many-7"))
    assert message.startswith("load_checkpoint: this takes more than 20 nodes.")


def test_keys_that_grow_without_end_are_beyond_a_limit(tmp_path: Path) -> None:
    block = b"".join([varint(i) + varint(1) + varint(0) + b"k" for i in range(3000)])
    block += struct.pack("<II", 0, 1)
    file = io.BytesIO()
    file.write(block + b"\0" + struct.pack("<I", masked(crc32c(block + b"\0"))))
    at = file.tell()
    index = varint(0) + varint(1) + varint(len(varint(0) + varint(len(block)))) + b"k" + varint(0) + varint(len(block))
    index += struct.pack("<II", 0, 1)
    file.write(index + b"\0" + struct.pack("<I", masked(crc32c(index + b"\0"))))
    footer = varint(0) + varint(0) + varint(at) + varint(len(index))
    file.write(footer.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57))
    (tmp_path / "table").write_bytes(file.getvalue())
    with pb.config.Limits(bytes=10**6), pytest.raises(ResourceExhaustedError), limited("test") as reading:
        read_table(tmp_path / "table", reading)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 10,
        varint(2) + b"\0a",
        varint(2**50),
        varint(9) + bytes([4 << 2]) + b"ab",
        varint(5) + b"\x05\x01",
    ],
)
def test_damaged_compressed_blocks_are_refused(data: bytes) -> None:
    with (
        pytest.raises((ValueError, IndexError, ResourceExhaustedError)),
        limited("test") as reading,
    ):
        uncompressed(data, reading)
