"""`DrawingContext`: the recipe, fonts, passages, random numbers and the dataset to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from PIL import Image

from keju.datasets.store import DatasetWriter
from keju.errors import DataError, unknown_name
from keju.items import ImageRef, Item
from keju_synthetic.camera import encode_jpeg
from keju_synthetic.fonts import Font, FontRecord, check_coverage, find_font
from keju_synthetic.noise import make_generator
from keju_synthetic.recipe import HandSpec, Recipe
from keju_synthetic.texts import Passage


class DrawingContext:
    """Everything that the families of a recipe need to draw their images.

    Args:
        recipe: the recipe of the set.
        passages: the texts that can be written, by id.
        writer: the writer of the dataset.

    Raises:
        PrerequisiteError: a font of the recipe is not installed.
    """

    def __init__(
        self, recipe: Recipe, passages: Mapping[str, Passage], writer: DatasetWriter
    ) -> None:
        self.recipe = recipe
        self.passages = passages
        self.quality = recipe.quality
        self.fonts: dict[str, tuple[HandSpec, Font]] = {
            name: (hand, find_font(hand.family, hand.style, hand.licence))
            for name, hand in recipe.hands.items()
        }
        self.image_bytes = 0
        self._writer = writer

    def rng(self, *names: str) -> np.random.Generator:
        """A random generator for these names, so that a new image does not change another one."""
        return make_generator(self.recipe.seed, *names)

    def find_hand(self, name: str, *, image_id: str) -> HandSpec:
        """The hand called `name`; `image_id` is the image's id.

        Raises:
            DataError: the recipe has no such hand.
        """
        return self.recipe.find_hand(name, image_id=image_id)

    def find_font(self, hand: str, characters: str, image_id: str) -> Font:
        """The font of a hand, which has an outline for each of `characters`.

        Args:
            hand: the hand's name in the recipe.
            characters: all characters to be drawn with it.
            image_id: the image's id, for the error.

        Raises:
            DataError: no such hand, or a character without an outline.
        """
        self.find_hand(hand, image_id=image_id)
        font = self.fonts[hand][1]
        check_coverage(font, characters, image_id=image_id)
        return font

    def find_passage(self, name: str, *, image_id: str) -> Passage:
        """The passage with that id; `image_id` is the image's id.

        Raises:
            DataError: there is none.
        """
        try:
            return self.passages[name]
        except KeyError:
            problem = unknown_name(name, self.passages, "passage")
            raise DataError(problem, item=image_id) from None

    def add_image(self, picture: Image.Image | bytes, name: str) -> ImageRef:
        """Add an image to the dataset.

        Args:
            picture: pixels, stored as JPEG of the recipe's quality, or the bytes of a file.
            name: the image's id.
        """
        data = picture if isinstance(picture, bytes) else encode_jpeg(picture, self.quality)
        ref = self._writer.add_image(data, f"{name}.jpg")
        self.image_bytes += ref.size
        return ref

    def list_font_records(self) -> dict[str, FontRecord]:
        """The record of each hand's font, by the name of the hand."""
        return {name: font.record for name, (_, font) in self.fonts.items()}


Family = Callable[[DrawingContext], Iterator[Item]]
"""Reads its section of the recipe at once, then draws its images and yields their items."""
