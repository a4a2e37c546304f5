"""`count_pages`: the values and bytes of a parquet column, from the headers of its pages.

The metadata at the end of a parquet file also have these numbers, but a reader decodes what the
pages state: a file of 500 bytes can have pages of billions of values. Headers are in the compact
protocol of Thrift (https://github.com/apache/parquet-format, `PageHeader`).
"""

from __future__ import annotations

from typing import BinaryIO, NamedTuple

_HEADER, _LARGE_HEADER = 1 << 12, 1 << 20
"""Bytes that are read for a header; statistics in it can be long texts."""

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 12
_NUMBERS = {4, 5, 6}
"""Types of fields in the compact protocol."""

_DICTIONARY, _ENCODING_OF = 7, {5: 2, 8: 4}
"""The fields of a header that describe a page, those of data with their field of the encoding. The
first field of each is the number of values."""

_DELTA_BYTE_ARRAY = 7
"""The encoding of texts by what they share with the one before: a byte can be a megabyte."""

_DEEPEST = 4


class PageCounts(NamedTuple):
    """The values of all data pages of a column chunk, those of its dictionary, and all bytes."""

    values: int
    dictionary: int
    size: int


def count_pages(file: BinaryIO, start: int, length: int) -> PageCounts:
    """Add up the headers of the pages of a column chunk.

    Args:
        file: the parquet file.
        start: the position of the first page.
        length: the compressed size of all pages in bytes.

    Raises:
        ValueError: a header is damaged, or texts are encoded by their differences, as keju never
            writes them.
    """
    values = dictionary = size = 0
    end = start + length
    while start < end:
        header, used = _read_header(file, start, end)
        unpacked, packed = _number(header.get(2)), _number(header.get(3))
        for key, encoding in _ENCODING_OF.items():
            page = _fields(header.get(key))
            values += _number(page.get(1, 0))
            if page.get(encoding) == _DELTA_BYTE_ARRAY:
                raise ValueError("texts are encoded by their differences")
        dictionary += _number(_fields(header.get(_DICTIONARY)).get(1, 0))
        size += unpacked
        start += used + packed
    return PageCounts(values, dictionary, size)


def _fields(value: object) -> dict[int, object]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError("a page header has no valid number")
    return value


def _read_header(file: BinaryIO, start: int, end: int) -> tuple[dict[int, object], int]:
    for most in (_HEADER, _LARGE_HEADER):
        file.seek(start)
        reader = _Compact(file.read(min(most, end - start)))
        try:
            return reader.struct(), reader.place
        except IndexError:
            continue
    raise ValueError("a page header is damaged or too large")


class _Compact:
    """Reads one structure in the compact protocol.

    Args:
        data: the bytes from its beginning.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def struct(self, depth: int = 0) -> dict[int, object]:
        """The fields by number; texts and lists are skipped.

        Raises:
            IndexError: the data end before the structure does.
            ValueError: it has a type or a depth that no page header has.
        """
        if depth > _DEEPEST:
            raise ValueError("a page header is too deep")
        fields: dict[int, object] = {}
        number = 0
        while (head := self._byte()) != _STOP:
            delta = head >> 4
            number = number + delta if delta else self._zigzag()
            fields[number] = self._value(head & 0xF, depth)
        return fields

    def _value(self, kind: int, depth: int) -> object:
        if kind in {_TRUE, _FALSE}:
            return kind == _TRUE
        if kind in _NUMBERS:
            return self._zigzag()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind == _BINARY:
            self._skip(self._varint())
        elif kind in {_BYTE, _DOUBLE}:
            self._skip(1 if kind == _BYTE else 8)
        elif kind in {_LIST, _SET}:
            self._skip_list(depth)
        else:
            raise ValueError("a page header has an unknown type")
        return None

    def _skip_list(self, depth: int) -> None:
        head = self._byte()
        count = head >> 4 if head >> 4 != 0xF else self._varint()
        if count > len(self._data):
            raise IndexError
        for _ in range(count):
            # A truth value in a list has a byte, in a structure it is part of the type.
            kind = head & 0xF
            self._value(_BYTE if kind in {_TRUE, _FALSE} else kind, depth + 1)

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self._data):
            raise IndexError

    def _byte(self) -> int:
        self._skip(1)
        return self._data[self.place - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise ValueError("a page header has a number of too many bytes")

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
