from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from keju.items import ImageRef, Request
from keju.running import request_key

IMAGES = tuple(
    ImageRef(path=f"images/{n}.png", sha256=str(n) * 64, width=1, height=1, size=1) for n in (1, 2)
)
REQUEST = Request(
    item="x", benchmark="b", task="t", form="letter", prompt="?", images=IMAGES, choices=("A", "B")
)
IDENTITY = {"kind": "openai", "model": "m", "endpoint": "http://h/v1"}


def test_a_key_is_64_hexadecimal_digits_and_stays_what_it_is():
    key = request_key(REQUEST, IDENTITY)
    assert re.fullmatch("[0-9a-f]{64}", key)
    # Pinned: should it change, nobody's stored answers would be found again.
    assert key == "78046f468cb0ed451fc3712ba62f82aa4a48b882355853944d19834dffad6645"


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "!"},
        {"images": IMAGES[::-1]},
        {"images": IMAGES[:1]},
        {"form": "text"},
        {"choices": ("B", "A")},
        {"setting": "gold-ocr"},
        {"script": "traditional"},
        {"round": 2},
        {"query": "What"},
        {"source": "天"},
        {"box_convention": "xyxy"},
    ],
)
def test_whatever_decides_the_answer_changes_the_key(change: dict[str, object]):
    assert request_key(replace(REQUEST, **change), IDENTITY) != request_key(REQUEST, IDENTITY)


@pytest.mark.parametrize("change", [{"model": "n"}, {"endpoint": "x"}, {"temperature": "0.0"}])
def test_the_models_identity_changes_the_key(change: dict[str, str]):
    assert request_key(REQUEST, {**IDENTITY, **change}) != request_key(REQUEST, IDENTITY)


def test_what_the_model_is_not_shown_leaves_the_key():
    moved = tuple(replace(image, path=f"images/moved{image.path[-5:]}") for image in IMAGES)
    same = replace(REQUEST, item="y", task="u", benchmark="c", images=moved)
    assert request_key(same, IDENTITY) == request_key(REQUEST, IDENTITY)


def test_the_order_of_the_identity_does_not_matter():
    turned = dict(reversed(IDENTITY.items()))
    assert request_key(REQUEST, turned) == request_key(REQUEST, IDENTITY)


def test_only_a_declared_dtype_is_part_of_a_key():
    key = request_key(REQUEST, IDENTITY)
    assert request_key(REQUEST, {**IDENTITY, "dtype": "unknown"}) == key
    assert request_key(REQUEST, {**IDENTITY, "dtype": "bf16"}) != key
