"""Messages with a stable id, whose English and Chinese texts are in catalogues.

An error names its problem by an id and its details by fields::

    raise DataError(message("datasets.image-missing", name=name), file=path, item=item.id)

The texts are in ``en/datasets.toml`` and ``zh/datasets.toml`` of this package, one table for
each id; `hint` is optional and ends without a full stop::

    [image-missing]
    text = "the image {name!r} is missing"
    hint = "Import the dataset again"

To add a message: choose an id ``<package>.<few-words-that-name-the-problem>``, add it to both
catalogues with the same fields, and use it. ``tests/messages`` finds ids that are missing, unused
or differ in their fields. In a template ``{name}`` is a field, ``{name!r}`` is quoted,
``{count:,}`` has a number format, and ``{count:image is|images are}`` is a number with its noun
in the singular and the plural (in Chinese: ``{count:,} 张图像``). A field may be a message itself.
Fields are untrusted: they are inserted once, and never interpreted as templates. `either` and
`both` join names with *or* and *and*, `listed` makes a list of them, and `noun` translates the word
for a kind of thing. `join_parts`, `join_clauses`, `join_sentences` and `join_lines` join messages,
which keep their ids, with the punctuation of the language.

A benchmark and a plug-in keep their own catalogues beside their code, ``messages/en.toml`` and
``messages/zh.toml``, and register their folder when they are imported::

    register("my-benchmark", Path(__file__).parent / "messages")
"""

from keju.messages._catalogues import (
    LANGUAGES,
    Translatable,
    language,
    register,
    registered,
    templates,
    using,
)
from keju.messages._message import (
    JoinedText,
    Message,
    StoredText,
    both,
    either,
    has_stored_text,
    hint_of,
    in_english,
    join_clauses,
    join_lines,
    join_parts,
    join_sentences,
    listed,
    message,
    noun,
    recognised,
)

__all__ = [
    "LANGUAGES",
    "JoinedText",
    "Message",
    "StoredText",
    "Translatable",
    "both",
    "either",
    "has_stored_text",
    "hint_of",
    "in_english",
    "join_clauses",
    "join_lines",
    "join_parts",
    "join_sentences",
    "language",
    "listed",
    "message",
    "noun",
    "recognised",
    "register",
    "registered",
    "templates",
    "using",
]
