"""Breaking: one label map, true neighbours, edges that no longer fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image, ImageDraw
from scipy import ndimage

from keju.errors import DataError
from keju_synthetic.fragmentation import (
    _find_largest_region,
    erode_part,
    fragment_mask,
    make_fracture,
)
from keju_synthetic.noise import make_generator, to_plane

ROUGH = 0.16


def make_mask(form: str, seed: int, high: int = 260):
    """A slender blade, a round shell or a jagged shard, whose outline differs from seed to seed."""
    corners, least, wide = {
        "blade": (15, 0.8, 0.5),
        "shell": (24, 0.9, 0.8),
        "shard": (9, 0.5, 0.9),
    }[form]
    rng = make_generator(seed, form)
    turns = np.arange(corners) * 2 * np.pi / corners
    far = (least + (1 - least) * rng.random(corners)) * high * 0.48
    outline = zip(
        wide * (high / 2 + far * np.cos(turns)), high / 2 + far * np.sin(turns), strict=True
    )
    mask = Image.new("L", (round(wide * high), high))
    ImageDraw.Draw(mask).polygon(list(outline), fill=255)
    return to_plane(mask)


@given(arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 12))))
def test_the_largest_region_is_the_one_that_scipy_finds(where):
    found = _find_largest_region(where)
    regions, count = ndimage.label(where)
    sizes = np.bincount(regions.ravel(), minlength=count + 1)[1:]
    assert found.sum() == (sizes.max() if count else 0)
    assert not (found & ~where).any()
    assert ndimage.label(found)[1] == (1 if count else 0)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["blade", "shell", "shard"]), st.integers(0, 50), st.integers(2, 7))
def test_parts_are_connected_cover_the_piece_and_touch_whom_they_say(form, seed, parts):
    mask = make_mask(form, seed)
    torn = fragment_mask(mask, parts, make_generator(seed, "tear"), rough=ROUGH)
    assert torn.parts == parts
    whole = _find_largest_region(mask > 0.5)
    assert ((torn.labels > 0) == whole).all()
    even = whole.sum() / parts
    for part in range(1, parts + 1):
        region = torn.labels == part
        assert ndimage.label(region)[1] == 1
        assert region.sum() >= 0.3 * even - 1
    for a in range(1, parts + 1):
        grown = ndimage.binary_dilation(torn.labels == a)
        for b in range(a + 1, parts + 1):
            shared = (grown & (torn.labels == b)).sum()
            assert (
                ((a, b) in torn.neighbours)
                == (b in torn.list_neighbours(a))
                == (a in torn.list_neighbours(b))
            )
            if (a, b) in torn.neighbours:
                assert shared >= 2
            elif shared:
                # A common corner is not a join.
                assert shared < 0.5 * even**0.5


def test_every_part_joins_another_so_that_all_hang_together():
    torn = fragment_mask(make_mask("blade", 3), 6, make_generator(3, "tear"), rough=ROUGH)
    reached = {1}
    for _ in range(6):
        reached |= {other for part in reached for other in torn.list_neighbours(part)}
    assert reached == set(range(1, 7))


def test_the_seed_decides_the_fragments():
    mask = make_mask("shell", 1)
    one, two, other = (
        fragment_mask(mask, 3, make_generator(seed, "t"), rough=ROUGH).labels for seed in (1, 1, 2)
    )
    assert (one == two).all()
    assert (one != other).any()


def test_a_break_is_ragged_but_ends_where_it_began():
    line = make_fracture(400, make_generator(1, "f"), rough=0.11)
    assert line[0] == line[-1] == 0
    assert np.abs(line).max() < 400 * 0.25
    assert np.abs(np.diff(line)).max() < 6
    assert np.count_nonzero(np.diff(np.sign(np.diff(line)))) > 40


def test_wear_takes_from_the_break_and_spares_the_old_rim():
    mask = make_mask("blade", 2, 400)
    torn = fragment_mask(mask, 2, make_generator(2, "t"), rough=ROUGH)
    parts = [
        erode_part(torn.labels, part, make_generator(2, "w", str(part)), depth=5) for part in (1, 2)
    ]
    gap = (torn.labels > 0) & ~parts[0] & ~parts[1]
    for part, kept in enumerate(parts, 1):
        own = torn.labels == part
        assert not (kept & ~own).any()
        other = ndimage.distance_transform_edt(torn.labels != 3 - part)
        lost = own & ~kept
        assert lost.sum() > 0
        assert other[lost].max() < 5 * 5
        assert (kept[own & (other > 25)]).all()
    # The two edges no longer meet: what is lost is not the same width everywhere.
    width = gap.sum(axis=0)
    width = width[width > 0]
    assert width.max() >= width.min() + 3


@pytest.mark.parametrize("parts", [0, 41])
def test_a_foolish_number_of_parts_is_refused(parts: int):
    with pytest.raises(DataError) as caught:
        fragment_mask(np.ones((50, 50), np.float32), parts, make_generator(1, "t"), rough=ROUGH)
    assert caught.value.template == "a piece cannot be broken into {n:,} part"


def test_nothing_cannot_be_broken():
    with pytest.raises(DataError) as caught:
        fragment_mask(np.zeros((50, 50), np.float32), 2, make_generator(1, "t"), rough=ROUGH)
    assert caught.value.template == "the mask of the piece is empty"


def test_a_thread_cannot_be_broken_into_many():
    thread = np.zeros((60, 60), np.float32)
    thread[30, 10:16] = 1
    with pytest.raises(DataError) as caught:
        fragment_mask(thread, 20, make_generator(1, "t"), rough=ROUGH)
    assert caught.value.template == "no fracture leaves parts of at least {:.0f} pixels"
