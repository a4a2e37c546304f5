"""Deterministic PDF files: objects are renumbered in the order in which they are used.

The PDF writer numbers fonts in an order that changes from call to call. Objects, streams and their
content do not change: numbering them by first use from the root, and sorting the entries of
resource dictionaries, gives the same file.
"""

from __future__ import annotations

import re

from keju.errors import DataError
from keju.messages import message

_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
_RESOURCES = re.compile(rb"(?:^ +/[A-Za-z]+\d+ \d+ 0 R\n)+", re.MULTILINE)
_OBJECT = re.compile(rb"(\d+) 0 obj\n")
_END = b"\nendobj\n\n"


def in_order(pdf: bytes) -> bytes:
    """The same PDF with its objects renumbered by first use.

    Raises:
        DataError: it does not have the writer's layout.
    """
    objects = _objects(pdf)
    root = re.search(rb"/Root (\d+) 0 R", pdf[pdf.rindex(b"trailer") :])
    if root is None:
        raise DataError(message("figures.pdf-without-root"))
    numbers = {old: place for place, old in enumerate(_walk(objects, root[1]), start=1)}
    out = bytearray(pdf[: pdf.index(b"\n\n") + 2])
    offsets = []
    for old, place in numbers.items():
        offsets.append(len(out))
        out += b"%d 0 obj\n%s%s" % (place, _renumbered(objects[old], numbers), _END)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f\r\n" % (len(offsets) + 1)
    out += b"".join(b"%010d 00000 n\r\n" % offset for offset in offsets)
    out += b"trailer\n<<\n  /Size %d\n  /Root 1 0 R\n>>\nstartxref\n%d\n%%%%EOF" % (
        len(offsets) + 1,
        start,
    )
    return bytes(out)


def _objects(pdf: bytes) -> dict[bytes, bytes]:
    """The content of each object, by number, found by the file's cross-reference table."""
    start = int(pdf[pdf.rindex(b"startxref") :].split()[1])
    count = int(pdf[start:].split(b"\n", 2)[1].split()[1])
    table = pdf.index(b"\n", pdf.index(b"\n", start) + 1) + 1
    lines = (pdf[table + 20 * n : table + 20 * (n + 1)] for n in range(count))
    places = sorted(int(line[:10]) for line in lines if line[17:18] == b"n")
    found = {}
    for place, following in zip(places, [*places[1:], start], strict=True):
        head = _OBJECT.match(pdf, place)
        end = pdf.rfind(_END, place, following)
        if head is None or end < 0:
            raise DataError(message("figures.pdf-not-as-expected"))
        found[head[1]] = pdf[head.end() : end]
    return found


def _walk(objects: dict[bytes, bytes], root: bytes) -> dict[bytes, None]:
    seen: dict[bytes, None] = {}
    waiting = [root]
    while waiting:
        number = waiting.pop()
        if number not in seen:
            seen[number] = None
            said, _ = _split(objects[number])
            waiting += [each[1] for each in _REFERENCE.finditer(_by_name(said))][::-1]
    return seen


def _split(body: bytes) -> tuple[bytes, bytes]:
    """The dictionary of an object, and its stream, which contains no references to objects."""
    said, stream, content = body.partition(b"\nstream\n")
    return said, stream + content


def _by_name(said: bytes) -> bytes:
    return _RESOURCES.sub(lambda run: b"".join(sorted(run[0].splitlines(keepends=True))), said)


def _renumbered(body: bytes, numbers: dict[bytes, int]) -> bytes:
    said, stream = _split(body)
    return _REFERENCE.sub(lambda ref: b"%d 0 R" % numbers[ref[1]], _by_name(said)) + stream
