"""Addresses of object stores, and errors where they cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keju.datasets.store import Dataset
from keju.errors import UsageError
from keju.object_stores import is_address, parse_address
from keju.object_stores.folder import CREDENTIALS
from tests.support.needing import needs


@pytest.mark.parametrize("written", ["s3://bucket/a/b", "s3:/bucket/a/b/", "S3://bucket/a/b"])
def test_a_bucket_and_a_prefix_are_read_from_paths_too(written: str):
    assert is_address(Path(written))
    assert str(parse_address(Path(written))) == "s3://bucket/a/b"
    assert parse_address(written).key("x") == "a/b/x"


@pytest.mark.parametrize("other", ["a/b", "gs://bucket/a", "s3", "x/s3:/y", "mys3://b/c"])
def test_other_paths_are_not_addresses(other: str):
    assert not is_address(other)


@pytest.mark.parametrize("wrong", ["s3://bucket", "s3://", "s3://Bucket/a", "s3://b/../c"])
def test_an_address_needs_a_bucket_and_a_prefix(wrong: str):
    with pytest.raises(UsageError) as caught:
        parse_address(wrong)
    assert caught.value.id == "object-stores.not-an-address"


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(UsageError) as caught:
        Dataset.open(Path("s3://AKIAEXAMPLE:wJalrXUtnFEMI@bucket/set"))
    assert caught.value.id == "object-stores.credentials-in-address"
    assert "AKIA" not in str(caught.value)
    assert "wJalr" not in str(caught.value)


def test_without_the_extra_the_error_names_its_installation(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(UsageError) as caught:
        Dataset.open(Path("s3://bucket/set"))
    assert caught.value.id == "object-stores.not-installed"
    assert "keju[s3]" in str(caught.value)


@needs("obstore", "make install-semantic")
def test_without_credentials_no_request_is_sent(monkeypatch: pytest.MonkeyPatch):
    for name in CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError) as caught:
        Dataset.open(Path("s3://bucket/set"))
    assert caught.value.id == "object-stores.no-credentials"


@pytest.mark.parametrize("scheme", ["gs", "az", "hf", "https"])
def test_other_schemes_are_refused(scheme: str):
    with pytest.raises(UsageError) as caught:
        Dataset.open(Path(f"{scheme}://bucket/set"))
    assert "address" in str(caught.value)
