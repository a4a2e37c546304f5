"""Addresses of object stores, and errors where they cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keju.datasets.store import Dataset
from keju.errors import UsageError
from keju.object_stores import STORES, ObjectFolder, is_address, parse_address
from tests.support.needing import needs
from tests.support.object_server import SERVED


@pytest.mark.parametrize("scheme", STORES)
@pytest.mark.parametrize("form", ["{}://bucket/a/b", "{}:/bucket/a/b/", "{}://bucket/a/b/"])
def test_a_bucket_and_a_prefix_are_read_from_paths_too(scheme: str, form: str):
    for written in (form.format(scheme), form.format(scheme.upper())):
        assert is_address(Path(written))
        assert str(parse_address(Path(written))) == f"{scheme}://bucket/a/b"
        assert parse_address(written).key("x") == "a/b/x"


@pytest.mark.parametrize("other", ["a/b", "gcs://bucket/a", "s3", "x/s3:/y", "mys3://b/c", "az"])
def test_other_paths_are_not_addresses(other: str):
    assert not is_address(other)
    with pytest.raises(UsageError) as caught:
        parse_address(other)
    assert caught.value.template.startswith("this is not an address of an object")


@pytest.mark.parametrize(
    "wrong", ["s3://bucket", "s3://", "gs://Bucket/a", "s3://b/../c", "az://ab/c", "az://$web/a"]
)
def test_an_address_needs_a_bucket_and_a_prefix(wrong: str):
    with pytest.raises(UsageError) as caught:
        parse_address(wrong)
    assert caught.value.template.startswith("this is not an address of an object")


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(UsageError) as caught:
        Dataset.open(Path("s3://AKIAEXAMPLE:wJalrXUtnFEMI@bucket/set"))
    assert caught.value.template.startswith("this is not an address of an object")
    assert "AKIA" not in str(caught.value)
    assert "wJalr" not in str(caught.value)


def test_without_the_extra_the_error_names_its_installation(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(UsageError) as caught:
        Dataset.open(Path("s3://bucket/set"))
    assert caught.value.template.startswith("addresses of object stores need the package obstore")
    assert "keju[object-stores]" in str(caught.value)


@needs("obstore", "make install-semantic")
@pytest.mark.parametrize("scheme", STORES)
def test_without_credentials_no_request_is_sent(scheme: str, monkeypatch: pytest.MonkeyPatch):
    store = STORES[scheme]
    for name, _ in store.settings():
        monkeypatch.delenv(name)
    monkeypatch.setenv(f"{store.prefix}REGION", "anywhere")
    with pytest.raises(UsageError) as caught:
        Dataset.open(Path(f"{scheme}://bucket/set"))
    assert caught.value.template.startswith("{}:// addresses need")
    assert store.usual in str(caught.value)
    for setting in (f"{store.prefix}SKIP_SIGNATURE=true", store.role):
        assert setting in str(caught.value)


@needs("obstore", "make install-semantic")
@pytest.mark.parametrize(
    ("scheme", "settings", "named"),
    [
        ("az", {"AZURE_STORAGE_ACCOUNT_KEY": "c2VjcmV0"}, "Account must be specified"),
        ("az", {"AZURE_STORAGE_ACCOUNT_NAME": "a", "AZURE_STORAGE_ACCOUNT_KEY": "%secret%"},
         "Invalid Access Key"),
        ("gs", {"GOOGLE_SERVICE_ACCOUNT": "no-such-file"}, "Unable to open service account file"),
        ("gs", {"GOOGLE_SERVICE_ACCOUNT_KEY": '{\n"secret": 1}'},
         "Unable to decode service account file"),
        ("gs", {"GOOGLE_BEARER_TOKEN": "secret\n"}, "GOOGLE_BEARER_TOKEN"),
        ("az", {"AZURE_STORAGE_TOKEN": "secret\n"}, "AZURE_STORAGE_TOKEN"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named_without_its_value(
    scheme: str, settings: dict[str, str], named: str, monkeypatch: pytest.MonkeyPatch
):
    for name, _ in STORES[scheme].settings():
        monkeypatch.delenv(name)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError) as caught:
        ObjectFolder(parse_address(f"{scheme}://bucket/set"))
    assert caught.value.template.startswith("the settings of the object")
    assert named in str(caught.value)
    assert "secret" not in f"{caught.value} {caught.value!r} {caught.value.__cause__!r}"


def test_azure_is_tested_too():
    if "az" not in SERVED:
        pytest.skip("azurite-blob is not on this machine: make test-contracts ONLY=azurite")
    assert tuple(STORES) == SERVED


@pytest.mark.parametrize("scheme", ["gcs", "abfs", "hf", "https"])
def test_other_schemes_are_refused(scheme: str):
    with pytest.raises(UsageError) as caught:
        Dataset.open(Path(f"{scheme}://bucket/set"))
    assert "address" in str(caught.value)
