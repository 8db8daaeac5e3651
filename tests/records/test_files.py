"""Files of records: what TensorFlow 2.21 writes is read, and written bit by bit; what is damaged is refused."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

import pullback as pb
from pullback.core.errors import DataLossError, InvalidArgumentError, NotFoundError, ResourceExhaustedError
from pullback.records.files import RecordWriter, read_lines, read_pieces, read_records, read_whole

RECORDS = [b"one", b"", b"\x00\xff" * 3]
WRITTEN = {
    "": (
        "0300000000000000b099490e6f6e6501405508000000000000000029039807d8ea82a2"
        "06000000000000007369d53700ff00ff00ff4c812478"
    ),
    "GZIP": (
        "1f8b0800000000000003636680800d333df9f2f352191d4239a0220c9acc33d86fbc6a5ac406e517675e3567f80f823e8d2a"
        "1500c7a8201f39000000"
    ),
    "ZLIB": "789c636680800d333df9f2f352191d4239a0220c9acc33d86fbc6a5ac406e517675e3567f80f823e8d2a15002e6e0d89",
}
"""The records as TensorFlow writes them."""


def written(path: Path, compression: str) -> bytes:
    with RecordWriter(path, compression) as writer:
        for record in RECORDS:
            writer.write(record)
    return path.read_bytes()


def refused(error: type[Exception], path: Path, compression: str = "") -> str:
    with pytest.raises(error) as caught:
        list(read_records(path, compression))
    return str(caught.value)


@pytest.mark.parametrize("compression", WRITTEN)
def test_what_tensorflow_writes_is_read(compression: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes.fromhex(WRITTEN[compression]))
    assert list(read_records(tmp_path / "x", compression)) == RECORDS


def test_what_is_written_is_what_tensorflow_writes(tmp_path: Path) -> None:
    assert written(tmp_path / "x", "").hex() == WRITTEN[""]


@pytest.mark.parametrize("compression", WRITTEN)
def test_what_is_written_is_read(compression: str, tmp_path: Path) -> None:
    data = written(tmp_path / "x", compression)
    assert list(read_records(tmp_path / "x", compression)) == RECORDS
    (tmp_path / "x").write_bytes(data + data)
    assert list(read_records(str(tmp_path / "x").encode(), compression)) == RECORDS * 2


def test_what_is_flushed_can_be_read_before_the_file_is_closed(tmp_path: Path) -> None:
    for compression in ("", "GZIP"):
        writer = RecordWriter(tmp_path / "x", compression, level=1)
        writer.write(b"first")
        writer.flush()
        assert next(read_records(tmp_path / "x", compression)) == b"first"
        writer.close()
        writer.close()


def test_a_torn_file_gives_its_whole_records_and_an_error(tmp_path: Path) -> None:
    data = written(tmp_path / "x", "")
    (tmp_path / "x").write_bytes(data[:-1])
    records = read_records(tmp_path / "x")
    assert [next(records), next(records)] == RECORDS[:2]
    with pytest.raises(DataLossError, match=rf"^{tmp_path}/x: the record at byte 35 is torn: the file ends in it$"):
        next(records)


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    data = bytearray(written(tmp_path / "x", ""))
    data[12] ^= 1
    (tmp_path / "x").write_bytes(data)
    assert refused(DataLossError, tmp_path / "x") == (
        f"{tmp_path}/x: the record at byte 0 was changed, or this is no file of records: its checksum is that of other "
        "bytes"
    )


def test_another_compression_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "x", "ZLIB")
    assert refused(DataLossError, tmp_path / "x", "GZIP") == (
        f"{tmp_path}/x is torn, or is not compressed like that: Error -3 while decompressing data: incorrect header "
        "check"
    )
    assert refused(ValueError, tmp_path / "x", "LZ4") == "compression must be '', 'ZLIB' or 'GZIP', not 'LZ4'"
    (tmp_path / "x").write_bytes((tmp_path / "x").read_bytes()[:20])
    assert "it ends too early" in refused(DataLossError, tmp_path / "x", "ZLIB")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert refused(NotFoundError, tmp_path / "x") == f"there is no file {tmp_path}/x"


def test_a_file_that_unpacks_to_more_than_the_limit_is_refused(tmp_path: Path) -> None:
    with RecordWriter(tmp_path / "x", "ZLIB") as writer:
        writer.write(bytes(10_000))
    with pb.config.Limits(bytes=1000):
        text = refused(ResourceExhaustedError, tmp_path / "x", "ZLIB")
        assert text.startswith("reading records: this takes more than 1,000 bytes for one array.")
        (tmp_path / "y").write_bytes(zlib.compress(bytes(10_000)))
        for read in (read_whole, lambda *given: list(read_lines(*given))):
            with pytest.raises(ResourceExhaustedError):
                read(tmp_path / "y", "ZLIB")


def test_lines_end_as_on_any_system(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"one\ntwo\r\n\nthree\r")
    assert list(read_lines(tmp_path / "x")) == [b"one", b"two", b"", b"three"]


def test_pieces_stand_between_header_and_footer(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"HabcdefF")
    assert list(read_pieces(tmp_path / "x", 2, 1, 1)) == [b"ab", b"cd", b"ef"]
    assert list(read_pieces(tmp_path / "x", 3, 1, 1, hop=2)) == [b"abc", b"cde"]
    with pytest.raises(InvalidArgumentError) as caught:
        list(read_pieces(tmp_path / "x", 4, 1, 1))
    assert str(caught.value) == f"{tmp_path}/x: 6 bytes stand between header and footer, not pieces of 4"
