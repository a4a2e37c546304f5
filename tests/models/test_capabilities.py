"""What models can do besides answering, as runs and judges ask it."""

from __future__ import annotations

import pytest

from keju.models import NO_CAPABILITIES, ModelOptions, capabilities_of, open_model, source_of
from tests.support.making import page_item

OPTIONS = ModelOptions(asking=False, base_url="http://127.0.0.1:1/v1")


def test_a_class_without_the_member_has_no_capabilities():
    class Plain:
        pass

    assert capabilities_of(Plain()) == NO_CAPABILITIES
    assert source_of(Plain(), page_item("a")) == ""


def test_a_pipeline_reads_first_and_has_no_batches():
    can = capabilities_of(open_model("ocr+llm:openai:reader+openai:m", OPTIONS))
    assert can.reader is not None
    assert can.reader.name == "openai:reader"
    assert (can.submitter, can.diagnosis) == (None, None)


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("openai:m", {"submitter", "diagnosis"}),
        ("blind:openai:m", set()),
        ("baseline:copy", set()),
    ],
)
def test_each_kind_has_its_capabilities(spec: str, names: set[str]):
    can = capabilities_of(open_model(spec, OPTIONS))
    assert {name for name, value in can._asdict().items() if value} == names
