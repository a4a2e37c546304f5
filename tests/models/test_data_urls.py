from __future__ import annotations

import base64

import pytest

from keju.errors import DataError
from keju.items import ImageRef
from keju.models.data_urls import DataUrls


def ref(name: str, path: str = "images/a.png") -> ImageRef:
    return ImageRef(path=path, sha256=name, width=1, height=1, size=3)


class Reader:
    """Counts how often the bytes are asked for."""

    def __init__(self, data: bytes = b"abc") -> None:
        self.data = data
        self.count = 0

    def __call__(self) -> bytes:
        self.count += 1
        return self.data


def test_an_image_is_read_and_encoded_once():
    urls, read = DataUrls(), Reader()
    for _ in range(5):
        url = urls.get(ref("x"), read)
    assert url == b'"data:image/png;base64,' + base64.b64encode(b"abc") + b'"'
    assert read.count == 1


def test_the_window_is_bounded_in_bytes_and_forgets_the_longest_unused():
    read = Reader(b"x" * 750)  # 1,000 bytes in base64
    urls = DataUrls(capacity=3500)
    for name in ("a", "b", "c", "a", "d"):
        urls.get(ref(name), read)
    assert urls.size <= 3500
    before = read.count
    urls.get(ref("a"), read)
    assert read.count == before
    urls.get(ref("b"), read)
    assert read.count == before + 1


def test_an_image_larger_than_the_window_is_sent_and_not_kept():
    urls, read = DataUrls(capacity=10), Reader()
    assert urls.get(ref("x"), read)
    assert urls.size == 0


@pytest.mark.parametrize(
    ("path", "mime"),
    [("a.JPG", "image/jpeg"), ("a.jpeg", "image/jpeg"), ("a.tif", "image/tiff")],
)
def test_the_media_type_follows_the_extension(path: str, mime: str):
    assert DataUrls().get(ref("x", path), Reader()).startswith(f'"data:{mime};'.encode())


def test_what_is_no_image_is_refused():
    with pytest.raises(DataError, match="no media type"):
        DataUrls().get(ref("x", 'a.png";evil'), Reader())
