"""Values that do not belong: of the wrong type, too large, or hostile as text or as a name."""

from __future__ import annotations

NAMES = (
    "../../etc/passwd", "..", ".", "/etc/passwd", "C:\\secret.png", "\\\\host\\share\\a.png",
    "file:///etc/passwd", "https://example.org/a.png", "a\0b.png", "x" * 5000, "d/" * 3000 + "a",
    "CON", "aux.png", "NUL.txt", "a.png ", "a.png.", "~root/a.png", "$HOME/a.png", "a\nb.png",
    "\u202egnp.a", "\ud800.png", "\udc80.png", "a?b*c|d.png", "images", "images/", "./", "%2e%2e/a",
    "p1.PNG", "Ｐ１.png", "-rf.png", " ", "",
)  # fmt: skip
"""Hostile where a file's name is expected."""

TEXTS = (
    "", " ", "\0", "\ud800", "\ufeff", "\u202e", "\x1b[31m", "\r", "\n\n", "\t", "=1+1", "@cmd",
    "x" * 5000, "字" * 100_000, "𠀀" * 100, "e\u0301" * 50, "NaN", "null", "None", "true", "[]",
    "{}", "[[[[", '"', "'", "\\", "\\u0000", "{question}", "{0.__class__}", "%s%s%n", "<script>",
    "A" * 300, "１２", "一", "T99", "T0", "-1", "1e999", "0x10", "٣", "½", "1_000", "9" * 400,
)  # fmt: skip
"""Texts where another text, a number or a name is expected."""

NUMBERS = (
    0, -1, 1, 45, 46, 3.5, -0.0, 1e308, -1e308, float("nan"), float("inf"), 2**31, 2**63, 2**64,
    10**30, 10**400,
)  # fmt: skip
"""Numbers where a text or another number is expected."""

OTHERS: tuple[object, ...] = (
    None, True, False, [], {}, [[]], [{}], [None], {"": ""}, {"a": {"b": [1]}}, [[[[[["a"]]]]]],
    ["a", 1, None], [0, 0, 0, 0], [[1, 2], [3, 4]], {"bytes": None, "path": None},
    {"type": "image_url", "image_url": None},
)  # fmt: skip
"""Values of other types."""

CELLS = tuple(
    text for text in (*NAMES, *TEXTS) if not any("\ud800" <= char <= "\udfff" for char in text)
)
"""Texts for cells and attributes, which hold no half characters."""

TOKENS = (
    "nan", "inf", "-inf", "1e999", "-1e999", "-1", "0", "9" * 400, "1e-320", "99999999999", "0x10",
    "1,5", "1.2.3", "one", "", "-", "１", "一", "1_0", "\0", "\u202e", "2147483648", "0.5",
    "1.0000001",
)  # fmt: skip
"""Words where a number is expected."""
