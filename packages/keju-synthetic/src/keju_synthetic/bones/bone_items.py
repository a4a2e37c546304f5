"""Items about images of bones and signs: T28, T29 and the tasks of OBI-Bench."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import structs

from keju.building.ranking_items import make_item_per_query
from keju.errors import DataError
from keju.items import Box, ImageRef, Item
from keju.messages import message
from keju.text import simplified_reference
from keju_synthetic.bones.pieces import PieceKind
from keju_synthetic.bones.signs import Sign
from keju_synthetic.item_maker import ItemMaker, StoredImage
from keju_synthetic.recipe import Split

BENCHMARK = "OBI-Bench"
SOURCE = {"source": "synthetic"}
"""The first metadata of every item: the bones are synthetic, not excavated."""

_PIECES: Mapping[PieceKind, str] = {
    "scapula": "ox shoulder blade",
    "plastron": "turtle plastron",
    "fragment": "piece of bone",
}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class InscriptionImage(NamedTuple):
    """A stored image of an inscribed piece, or of something else, without boxes and text.

    `boxes` are the characters' in reading order, `text` theirs, one column a line.
    """

    id: str
    image: ImageRef
    split: Split
    boxes: tuple[Box, ...]
    text: str
    describes: str
    metadata: Mapping[str, str]


def make_recognition_items(shown: InscriptionImage) -> Iterator[Item]:
    """Items for the queries What, Yes-or-No, How and Where; for a negative only Yes-or-No."""
    pattern = Item(
        id=f"{shown.id}-recognition",
        benchmark=BENCHMARK,
        task="recognition",
        images=(shown.image,),
        transcription=shown.text or None,
        group=shown.id,
        split=shown.split,
        metadata=SOURCE | dict(shown.metadata),
    )
    if not shown.boxes:
        yield from make_item_per_query(structs.replace(pattern, answer="no"), ["Yes-or-No"])
        return
    answers = {"What": shown.describes, "Yes-or-No": "yes", "How": str(len(shown.boxes))}
    for item in make_item_per_query(pattern):
        where = shown.boxes if item.query == "Where" else ()
        yield structs.replace(item, answer=answers.get(item.query, ""), boxes=where)


def describe_inscription(kind: PieceKind, ground: str, characters: int, columns: int) -> str:
    """Describe an inscribed piece in English: the reference of the query What."""
    look = "An inked rubbing" if ground == "rubbing" else "A photograph"
    signs = f"{_spell_number(characters)} oracle bone character{'s' if characters > 1 else ''}"
    rows = f"{_spell_number(columns)} vertical column{'s' if columns > 1 else ''}"
    return f"{look} of an ancient Chinese {_PIECES[kind]} with {signs} incised in {rows}."


def _spell_number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def make_sign_items(
    stored: StoredImage, sign: Sign, asks: Sequence[str], maker: ItemMaker
) -> Iterator[Item]:
    """The items about an image of one sign.

    Args:
        stored: the image; its transcription is the sign.
        sign: the sign with its facts.
        asks: tasks among T28, T29 and deciphering.
        maker: makes the items of MCS-Bench.

    Raises:
        DataError: a task is not about signs, or the sign lacks the text that it needs.
    """
    for name in asks:
        if name == "T28":
            yield maker.make_transcription(stored, name, ())
        elif name == "T29" and sign.explains:
            char = simplified_reference(sign.char)
            item = maker.make_open_question(stored, name, simplified_reference(sign.explains))
            question = item.question.replace("{character}", char)
            yield structs.replace(item, question=question, fields={"character": char})
        elif name == "deciphering" and sign.shows:
            yield from _make_deciphering_items(stored, sign)
        else:
            raise DataError(
                message("synthetic.sign-without-task", task=name, sign=sign.char), item=stored.id
            )


def _make_deciphering_items(stored: StoredImage, sign: Sign) -> Iterator[Item]:
    pattern = Item(
        id=f"{stored.id}-deciphering",
        benchmark=BENCHMARK,
        task="deciphering",
        images=(stored.image,),
        group=stored.group,
        split=stored.split,
        metadata=dict(stored.metadata),
    )
    answers = {
        "What": f'This oracle bone character denotes "{sign.gloss}". It shows {sign.shows}.',
        "How": f"It shows {sign.shows}; from this {sign.kind} the meaning follows.",
    }
    for item in make_item_per_query(pattern):
        yield structs.replace(item, answer=answers[item.query])


def describe_sign(sign: Sign) -> dict[str, str]:
    """Metadata of a sign, including the subset that OBI-Bench uses for deciphering."""
    return SOURCE | {
        "character": sign.char,
        "subset": sign.kind,
        "tier": f"tier-{sign.tier}",
        "radical": sign.radical,
    }
