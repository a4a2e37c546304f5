"""What the browser shows of a ranking: equals all or not at all."""

from __future__ import annotations

from keju.reporting.item_browser import _ties


def test_those_that_share_a_rank_are_kept_together():
    assert list(_ties("3 (0.9) > 1 (0.5) = 2 (0.5) > 12 (–)")) == [(1, [3]), (2, [1, 2]), (4, [12])]
    assert list(_ties("1 (0) = 2 (0) = 30 (0) …")) == [(1, [1, 2, 30])]
    assert list(_ties("")) == []
