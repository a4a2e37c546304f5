"""Tables on disk: what a full disk does."""

from __future__ import annotations

import pytest

from keju.errors import UsageError
from keju.models.disk_index import DiskIndex


def test_a_full_disk_is_an_error_that_names_the_folder_for_temporary_files():
    index = DiskIndex("CREATE TABLE texts (text)")
    index.rows("PRAGMA max_page_count = 8")
    with pytest.raises(UsageError, match=r"stored in a temporary file: .*is full") as caught:
        index.rows("INSERT INTO texts VALUES (?)", "天" * 100_000)
    assert "TMPDIR" in str(caught.value)
    with pytest.raises(UsageError, match="stored in a temporary file"):
        index.rows("CREATE INDEX by_text ON texts (text)")
    index.close()
