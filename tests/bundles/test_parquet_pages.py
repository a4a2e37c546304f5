"""What the pages of a parquet file state, whatever its metadata say."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from keju.bundles.parquet_pages import count_pages
from keju.bundles.tables import check_table
from keju.errors import DataError


def written(path: Path, table: pa.Table, **options: object) -> Path:
    parquet.write_table(table, path, **options)
    return path


def counts(path: Path, number: int = 0) -> tuple[int, int, int]:
    column = parquet.ParquetFile(path).metadata.row_group(0).column(number)
    start = column.data_page_offset
    if column.has_dictionary_page:
        start = min(start, column.dictionary_page_offset)
    with path.open("rb") as file:
        return count_pages(file, start, column.total_compressed_size)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["zstd", "snappy", "none"])
def test_the_pages_of_other_writers_are_counted(
    tmp_path: Path, version: str, compression: str
) -> None:
    texts = [f"text {number % 7}" for number in range(5000)]
    table = pa.table({"a": texts, "b": [[1.5, 2.5], None] * 2500})
    path = written(
        tmp_path / "x.parquet", table, data_page_version=version, compression=compression,
        data_page_size=1000,
    )  # fmt: skip
    assert counts(path)[:2] == (5000, 7)
    assert counts(path, 1)[0] == 7500
    check_table(path)


def test_the_pages_of_polars_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": ["x", "y"] * 50, "b": [[{"n": "x"}]] * 100}).write_parquet(path)
    assert counts(path)[0] == 100
    check_table(path, pl.read_parquet_schema(path))


def test_an_empty_table_is_accepted(tmp_path: Path) -> None:
    check_table(written(tmp_path / "x.parquet", pa.table({"a": pa.array([], pa.string())})))


def test_metadata_that_are_not_utf_8_do_not_end_the_check(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As a damaged byte leaves them; polars itself panics on them."""
    table = pa.table({"a": ["x"]}).replace_schema_metadata({b"m": b"\xff\xfe"})
    check_table(written(tmp_path / "x.parquet", table), pl.Schema({"a": pl.String}))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("kind", [pa.float64(), pa.string()])
def test_a_row_of_many_values_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: pa.DataType
) -> None:
    monkeypatch.setattr("keju.bundles.tables.MOST_VALUES", 1000)
    values = pa.array([[None] * 2000], pa.list_(kind))
    path = written(tmp_path / "x.parquet", pa.table({"a": values}))
    assert path.stat().st_size < 2000
    with pytest.raises(DataError) as raised:
        check_table(path)
    assert raised.value.template == "the table is larger than keju reads"


@pytest.mark.parametrize("inside", ["list", "struct"])
def test_a_long_text_that_a_list_repeats_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    monkeypatch.setattr("keju.bundles.tables.MOST_GROUP", 1 << 20)
    text = "x" * 10_000
    value = text if inside == "list" else {"name": text, "value": 1.0}
    path = written(tmp_path / "x.parquet", pa.table({"a": [[value] * 1000]}))
    assert path.stat().st_size < 50_000
    with pytest.raises(DataError) as raised:
        check_table(path)
    assert raised.value.template == "the table is larger than keju reads"


def test_more_rows_than_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keju.bundles.tables.ROWS_OF_SMALL_FILE", 1000)
    path = written(tmp_path / "x.parquet", pa.table({"a": [1] * 20_000}))
    with pytest.raises(DataError) as raised:
        check_table(path)
    assert raised.value.template == "the table is larger than keju reads"


def test_metadata_that_state_fewer_values_than_the_pages_are_refused(tmp_path: Path) -> None:
    """The reader of pyarrow decodes 3 million values of this file, which states one."""
    table = pa.table({"a": pa.array([[1.5] * 3_000_000], pa.list_(pa.float64()))})
    path = written(tmp_path / "x.parquet", table, compression="zstd", write_statistics=False)
    data = bytearray(path.read_bytes())
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    place = data.index(b"\x80\x9b\xee\x02", end)
    data[place : place + 4] = b"\x82\x80\x80\x00"
    path.write_bytes(data)
    column = parquet.ParquetFile(path).metadata.row_group(0).column(0)
    assert (column.num_values, counts(path)[0]) == (1, 3_000_000)
    with pytest.raises(DataError) as raised:
        check_table(path)
    assert raised.value.template == "the table is not readable: {}"


def test_texts_encoded_by_their_differences_are_refused(tmp_path: Path) -> None:
    table = pa.table({"a": ["x" * 10_000 + str(number) for number in range(100)]})
    path = written(
        tmp_path / "x.parquet", table, use_dictionary=False,
        column_encoding={"a": "DELTA_BYTE_ARRAY"},
    )  # fmt: skip
    with pytest.raises(DataError) as raised:
        check_table(path)
    assert raised.value.template == "the table is not readable: {}"


def test_any_bytes_are_a_header_or_an_error() -> None:
    for number in range(256):
        data = bytes([number]) * 64
        try:
            found = count_pages(io.BytesIO(data), 0, len(data))
        except ValueError:
            continue
        assert min(found) >= 0
