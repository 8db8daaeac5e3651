"""`tf.io`, `tf.python_io`, readers and datasets of files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.core.errors import InvalidArgumentError


def run(fetches: Any, feeds: Any = None) -> Any:
    return tf.Session(engine="numpy").run(fetches, feeds)


def refused(fetches: Any) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        run(fetches)
    return str(caught.value).split(" failed on ")[1].partition(": ")[2].partition("\n")[0]


def elements(dataset: Any) -> Iterator[Any]:
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session(engine="numpy") as session:
        while True:
            try:
                yield session.run(following)
            except tf.errors.OutOfRangeError:
                return


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a file of records, one of lines, and one more."""
    with tf.python_io.TFRecordWriter(str(tmp_path / "a.records")) as writer:
        for text in (b"", b"a", b"aa"):
            writer.write(text)
    (tmp_path / "b.txt").write_bytes(b"one\ntwo\r\nthree")
    (tmp_path / "c.txt").write_bytes(b"four\n")
    return tmp_path


# Records


@pytest.mark.parametrize("options", [None, "GZIP", 1, tf.python_io.TFRecordOptions("ZLIB"), tf.io.TFRecordOptions(2)])
def test_a_file_is_read_with_the_options_that_it_was_written_with(options: Any, tmp_path: Path) -> None:
    with tf.io.TFRecordWriter(tmp_path / "x", options) as writer:
        writer.write(b"one")
    assert list(tf.python_io.tf_record_iterator(tmp_path / "x", options)) == [b"one"]
    names = {None: "", "GZIP": "GZIP", 1: "ZLIB"}
    assert tf.python_io.TFRecordOptions.get_compression_type_string(options) in [*names.values()]


# Datasets


def test_datasets_read_files(files: Path) -> None:
    records = tf.data.TFRecordDataset(str(files / "a.records"))
    assert list(elements(records)) == [b"", b"a", b"aa"]
    names = tf.placeholder(tf.string, [None])
    lines = tf.data.TextLineDataset(names).make_initializable_iterator()
    with tf.Session(engine="numpy") as session:
        session.run(lines.initializer, {names: [str(files / "c.txt"), str(files / "b.txt")]})
        following = lines.get_next()
        assert [session.run(following) for _ in range(4)] == [b"four", b"one", b"two", b"three"]
    pieces = tf.data.FixedLengthRecordDataset(str(files / "b.txt"), 2, header_bytes=4, footer_bytes=8)
    assert list(elements(pieces)) == [b"tw"]


def test_datasets_of_names_become_datasets_of_what_the_files_have(files: Path) -> None:
    names = tf.data.Dataset.list_files(str(files / "*.txt"), shuffle=False)
    assert list(elements(names)) == [str(files / name).encode() for name in ("b.txt", "c.txt")]
    assert list(elements(tf.data.TextLineDataset(names)))[-1] == b"four"
    assert sorted(elements(names.interleave(tf.data.TextLineDataset, 2)))[0] == b"four"
    assert len(list(elements(tf.data.Dataset.list_files([str(files / "a*"), str(files / "b*")])))) == 2
    with pytest.raises(InvalidArgumentError, match="list_files: no files match /nowhere/x"):
        next(elements(tf.data.Dataset.list_files("/nowhere/x")))


def test_a_dataset_is_written_into_a_file(tmp_path: Path) -> None:
    count = tf.placeholder(tf.int64, [])
    texts = tf.data.Dataset.range(count).map(tf.as_string)
    write = tf.data.experimental.TFRecordWriter(str(tmp_path / "x"), "GZIP").write(texts)
    with tf.Session(engine="numpy") as session:
        session.run(write, {count: 3})
    assert list(tf.python_io.tf_record_iterator(tmp_path / "x", "GZIP")) == [b"0", b"1", b"2"]
    with pytest.raises(TypeError, match="they must be one text each"):
        tf.data.experimental.TFRecordWriter("x").write(tf.data.Dataset.range(3))


def test_a_compression_that_is_not_there_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="compression must be '', 'ZLIB' or 'GZIP', not 'LZ4'"):
        tf.data.TFRecordDataset("x", "LZ4")


# Readers


READERS = {
    "records": (tf.TFRecordReader(), "a.records", [("0", b""), ("16", b"a"), ("33", b"aa")]),
    "lines": (tf.TextLineReader(), "b.txt", [("1", b"one"), ("2", b"two"), ("3", b"three")]),
    "lines_after_a_header": (tf.TextLineReader(1), "b.txt", [("2", b"two"), ("3", b"three"), ("2", b"two")]),
    "pieces": (tf.FixedLengthRecordReader(2, 1, 11), "b.txt", [("0", b"ne"), ("0", b"ne")]),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_gives_keys_and_values_as_in_tensorflow(name: str, files: Path) -> None:
    reader, file, expected = READERS[name]
    names = tf.train.string_input_producer([str(files / file)], shuffle=False)
    pair = reader.read(names)
    with tf.Session(engine="numpy") as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(pair) for _ in expected]
        coordinator.request_stop()
        coordinator.join(threads)
    assert found == [(f"{files / file}:{place}".encode(), value) for place, value in expected]


def test_whole_files_and_names_are_values_too(files: Path) -> None:
    path = str(files / "c.txt").encode()
    names = tf.FIFOQueue(9, tf.string, [[]])
    whole, itself = tf.WholeFileReader(), tf.IdentityReader()
    with tf.Session(engine="numpy") as session:
        session.run(names.enqueue_many([[path, path]]))
        session.run(names.close())
        assert session.run(whole.read(names)) == (path, b"four\n")
        assert session.run(itself.read(names)) == (path, path)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(itself.read(names))


def test_a_reader_counts_and_begins_anew(files: Path) -> None:
    names = tf.FIFOQueue(9, tf.string, [[]])
    reader = tf.TextLineReader()
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    with tf.Session(engine="numpy") as session:
        session.run(names.enqueue_many([[str(files / "b.txt")] * 2]))
        assert [x.tolist() for x in session.run(reader.read_up_to(names, 2))][1] == [b"one", b"two"]
        assert session.run(reader.read_up_to(names, 2))[1].tolist() == [b"three"]
        session.run(reader.read(names))
        assert session.run(counts) == [4, 1]
        session.run(reader.reset())
        assert session.run(counts) == [0, 0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_pipeline_of_queues_reads_examples_and_stops(engine: str, tmp_path: Path) -> None:
    with tf.python_io.TFRecordWriter(tmp_path / "x") as writer:
        for i in range(4):
            pixels = tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes([i, 2 * i])]))
            features = tf.train.Features(feature={"pixels": pixels})
            writer.write(tf.train.Example(features=features).SerializeToString())
    _, text = tf.TFRecordReader().read(tf.train.string_input_producer([str(tmp_path / "x")]))
    parsed = tf.parse_single_example(text, {"pixels": tf.FixedLenFeature([], tf.string)})
    image = tf.reshape(tf.cast(tf.decode_raw(parsed["pixels"], tf.uint8), tf.float32), [2])
    batch = tf.train.shuffle_batch([image], 4, 20, 5)
    with tf.Session(engine=engine) as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = session.run(batch * 1.0)
        coordinator.request_stop()
        coordinator.join(threads)
    assert (found[:, 1] == 2 * found[:, 0]).all()


# Files


def test_files_are_written_read_and_found(tmp_path: Path) -> None:
    path = str(tmp_path / "below" / "x.txt")
    run(tf.write_file(path, b"text\0"))
    assert run(tf.read_file(path)) == b"text\0"
    assert run(tf.matching_files([path, str(tmp_path / "*")])).tolist() == [
        str(tmp_path / "below").encode(),
        path.encode(),
    ]
    assert run(tf.train.match_filenames_once(path)).tolist() == [path.encode()]
    for kind in (tf.errors.NotFoundError, FileNotFoundError):
        with pytest.raises(kind, match=r"there is no file /nowhere/x\n"):
            run(tf.read_file("/nowhere/x"))
    assert tf.io.gfile.exists(path)


# Numbers and texts in texts


def test_bytes_are_numbers() -> None:
    data = np.arange(4, dtype="<i4").tobytes()
    assert run(tf.decode_raw(data, tf.int32)).tolist() == [0, 1, 2, 3]
    assert run(tf.decode_raw([b"\1\2\3\4"], tf.int16, little_endian=False)).tolist() == [[258, 772]]
    assert run(tf.decode_raw(b"\x80\x3f", tf.bfloat16)).tolist() == [1.0]
    assert run(tf.decode_raw(bytes=b"ab\0", out_type=tf.uint8)).tolist() == [97, 98, 0]
    assert run(tf.decode_raw(tf.placeholder_with_default(np.empty([0, 2], object), [0, 2]), tf.uint8)).shape == (
        0,
        2,
        0,
    )
    assert refused(tf.decode_raw(b"123", tf.int16)) == (
        "Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16"
    )
    assert refused(tf.decode_raw([b"1", b"22"], tf.uint8)) == (
        "DecodeRaw requires input strings to all be the same size, not [1, 2]"
    )


ROWS: list[tuple[Any, Any, dict[str, Any], Any]] = [
    ("1,a", [[0.5], [""]], {}, [1.0, b"a"]),
    (',"b,""c"', [[0.5], [""]], {}, [0.5, b'b,"c']),
    ("3,4,5", [[0], [0]], {"select_cols": [0, 2]}, [3, 5]),
    ("x,na", [[""], [1.5]], {"na_value": "na"}, [b"x", 1.5]),
    (" 1 ;2", [[1], [1]], {"field_delim": ";"}, [1, 2]),
    ('a"b,1', [[""], tf.int64], {"use_quote_delim": False}, [b'a"b', 1]),
    ("z\u00f6", [[]], {}, None),
    ("1.5", [[tf.constant(0.5)]], {}, [1.5]),
    (["1,2", "3,"], [[0], [-1]], {}, [[1, 3], [2, -1]]),
]


@pytest.mark.parametrize(("records", "defaults", "options", "expected"), ROWS)
def test_rows_of_tables_are_read(records: Any, defaults: Any, options: Any, expected: Any) -> None:
    columns = tf.decode_csv(records, defaults, **options)
    if expected is None:
        assert refused(columns) == "Field 0 in record 0 is not a valid float32: z\u00c3\u00b6"
    else:
        assert [np.asarray(x).tolist() for x in run(columns)] == expected


def test_rows_that_do_not_fit_are_named() -> None:
    assert refused(tf.decode_csv(["1", "1,2"], [[1]])) == "Expect 1 fields but have 2 in record 1"
    assert refused(tf.decode_csv([",2"], [tf.constant([], tf.int32), [1]])) == (
        "Field 0 is required but missing in record 0!"
    )
    assert refused(tf.decode_csv(['"a'], [[""]])).startswith("decode_csv: record 0 is no row of a table: ")
    assert refused(tf.decode_csv([f"{2**40}"], [[1]])) == f"Field 0 in record 0 is not a valid int32: {2**40}"
    for defaults, options, text in (
        ([[1, 2]], {}, r"decode_csv: a default is one number or text, or \[\], not \[1, 2\]"),
        ([tf.placeholder(tf.int32)], {}, "must be a constant"),
        ([[1]], {"select_cols": [1, 0]}, r"select_cols must be 1 rising numbers, not \[1, 0\]"),
    ):
        with pytest.raises(ValueError, match=text):
            tf.decode_csv("1", defaults, **options)


@pytest.mark.parametrize("value", [[[1.5, 2.0]], ["a", "b"], 7, np.zeros([0, 2], np.int64), [True]])
def test_tensors_are_messages(value: Any) -> None:
    x = tf.constant(value)
    found = run(tf.io.parse_tensor(tf.io.serialize_tensor(x), x.dtype))
    assert np.asarray(found).tolist() == run(x).tolist()
    assert tf.make_ndarray(tf.make_tensor_proto(value)).tolist() == run(x).tolist()


def test_a_message_has_the_shape_and_dtype_that_is_asked_for() -> None:
    assert tf.make_ndarray(tf.make_tensor_proto(1, tf.float32, [2, 2])).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert tf.make_ndarray(tf.make_tensor_proto([1, 2], shape=[2, 1])).tolist() == [[1], [2]]
    assert refused(tf.parse_tensor(b"\xff", tf.int32)) == "Could not parse `serialized` as TensorProto: b'\\xff'"
    assert refused(tf.parse_tensor(tf.serialize_tensor([1]), tf.int64)) == (
        "Type mismatch between parsed tensor (int32) and dtype (int64)"
    )


def test_texts_are_packed_and_unpacked() -> None:
    assert run(tf.encode_base64([b"\xff\xfe", b""], pad=True)).tolist() == [b"__4=", b""]
    assert run(tf.decode_base64(tf.encode_base64(b"\x00\xfb\xff\x00"))) == b"\x00\xfb\xff\x00"
    assert refused(tf.decode_base64("a")).startswith("decode_base64: b'a' is no base 64: ")
    import gzip

    packed = gzip.compress(b"text" * 100)
    assert run(tf.decode_compressed([packed], "GZIP")).tolist() == [b"text" * 100]
    assert run(tf.decode_compressed("as it is")) == b"as it is"
    assert refused(tf.decode_compressed(packed, "ZLIB")).startswith("decode_compressed: this is not ZLIB: Error -3")
    with pb.config.Limits(bytes=100):
        assert refused(tf.decode_compressed(packed, "GZIP")) == "decode_compressed: this GZIP is torn, or too large"
