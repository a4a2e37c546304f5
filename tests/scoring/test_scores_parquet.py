"""Scores on disk are the scores that were written."""

import pytest
from msgspec.structs import replace

from keju.errors import DataError
from keju.scoring import score_answer
from tests.support.stored_scores import read_scores, write_scores


def test_what_was_written_is_read(tmp_path, make):
    scores = score_answer(*make("T1", "天地", "天")) + score_answer(*make("T6", "意思", "意思"))
    assert any(score.value is None for score in scores)
    write_scores(tmp_path / "m.parquet", scores)
    assert read_scores(tmp_path / "m.parquet") == scores


@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_scores_in_row_groups_are_read_in_their_order(tmp_path, make, monkeypatch, rows):
    scores = score_answer(*make("T1", "天地", "天")) + score_answer(*make("T6", "意思", "意思"))
    monkeypatch.setattr("keju.scoring.stored._GROUP_ROWS", rows)
    write_scores(tmp_path / "m.parquet", scores)
    assert read_scores(tmp_path / "m.parquet") == scores


def test_zeros_keep_their_signs(tmp_path, make):
    scores = score_answer(*make("T1", "天地", "天"))[:1] * 2
    signed = [replace(scores[0], stats={"numerator": zero}) for zero in (0.0, -0.0)]
    write_scores(tmp_path / "m.parquet", signed)
    found = [score.stats["numerator"] for score in read_scores(tmp_path / "m.parquet")]
    assert list(map(str, found)) == ["0.0", "-0.0"]


def test_no_scores_are_a_table_too(tmp_path):
    write_scores(tmp_path / "m.parquet", [])
    assert read_scores(tmp_path / "m.parquet") == []


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1 damaged PAR1"])
def test_a_damaged_table_is_an_error(tmp_path, content):
    path = tmp_path / "m.parquet"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"m\.parquet"):
        read_scores(path)


def test_another_table_or_none_is_an_error(tmp_path):
    import polars as pl

    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(DataError, match="not a table of scores"):
        read_scores(tmp_path / "other.parquet")
    with pytest.raises(DataError, match="keju score"):
        read_scores(tmp_path / "none.parquet")
