from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.models.retry_headers import LONGEST_WAIT, retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, LONGEST_WAIT),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "6m0s"}, 360.0),
        ({"llm_provider-retry-after": "60"}, 60.0),
        ({"llm_provider-retry-after-ms": "60"}, 0.06),
        ({"llm_provider-retry-after": "60", "retry-after": "5"}, 5.0),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-reset-tokens": "120ms", "x-ratelimit-remaining-tokens": "0"}, 0.12),
        ({"x-ratelimit-reset-tokens": "9s", "x-ratelimit-remaining-tokens": "55"}, None),
        (
            {
                "x-ratelimit-reset-requests": "20h",
                "x-ratelimit-remaining-requests": "900",
                "x-ratelimit-reset-tokens": "7.5s",
                "x-ratelimit-remaining-tokens": "0",
            },
            7.5,
        ),
        ({"llm_provider-x-ratelimit-reset-requests": "1m2.5s"}, 62.5),
        ({"ratelimit-reset": "30"}, 30.0),
        ({"x-ratelimit-reset": "-4"}, 0.0),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None):
    assert retry_after(headers) == seconds


def test_retry_after_as_a_date_counts_from_now():
    date = formatdate(time.time() + 100, usegmt=True)
    wait = retry_after({"retry-after": date})
    assert wait is not None
    assert 98 < wait <= 100


@given(st.text(max_size=30))
def test_any_retry_after_is_a_sane_wait_or_none(value: str):
    wait = retry_after({"retry-after": value})
    assert wait is None or 0 <= wait <= LONGEST_WAIT


@pytest.mark.parametrize("unit", [1, 1000])
@pytest.mark.parametrize("name", ["retry-after", "x-ratelimit-reset"])
def test_a_time_since_1970_counts_from_now(name: str, unit: int):
    wait = retry_after({name: str(int((time.time() + 100) * unit))})
    assert wait is not None
    assert 98 < wait <= 100


def test_limits_are_read_from_replies_with_status_429_only():
    assert retry_after({"x-ratelimit-reset-requests": "6m0s"}, 500) is None
    assert retry_after({"retry-after": "6"}, 500) == 6
