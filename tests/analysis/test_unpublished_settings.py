"""Lines about how a run was asked otherwise than published."""

from __future__ import annotations

from keju.analysis.unpublished_settings import otherwise_lines
from keju.runs import RunManifest


def manifest(**settings: str) -> RunManifest:
    return RunManifest(
        keju="0", dataset="d", dataset_version="1", dataset_hash="h", settings=settings
    )


def test_a_run_asked_as_published_has_no_line():
    assert list(otherwise_lines(manifest())) == []


def test_a_reduced_form_a_convention_of_boxes_and_a_list_of_items_are_named():
    lines = list(otherwise_lines(manifest(pairs="once", boxes="yxyx", items="3 ids")))
    assert len(lines) == 3
    for word, line in zip(("once", "yxyx", "3 ids"), lines, strict=True):
        assert word in line
