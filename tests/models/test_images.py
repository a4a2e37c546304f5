"""Pictures travel as stored, but for those beyond a limit that was declared."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError
from keju.items import ImageRef, Request
from keju.models import Fit, ModelOptions, open_model
from keju.models.images import data_urls
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.making import make_dataset, page_item, picture
from tests.support.serving import Chat

MODEL = "openai:served"


def ref(data: bytes, name: str = "a.png") -> ImageRef:
    width, height = Image.open(io.BytesIO(data)).size
    digest = hashlib.sha256(data).hexdigest()
    return ImageRef(
        path=f"images/{name}", sha256=digest, width=width, height=height, size=len(data)
    )


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


@settings(max_examples=25)
@given(st.integers(1, 70), st.integers(1, 70), st.integers(1, 3000))
def test_no_picture_is_beyond_its_pixels_and_none_is_enlarged(width: int, height: int, most: int):
    out = io.BytesIO()
    Image.new("RGB", (width, height), (9, 99, 199)).save(out, "PNG")
    small = opened(Fit(max_pixels=most).fitted(out.getvalue(), ref(out.getvalue()))[0])
    assert small.width * small.height <= most or small.size == (1, 1)
    assert small.width <= width
    assert small.height <= height
    assert small.getpixel((0, 0)) == (9, 99, 199)


@pytest.mark.parametrize("most", [1000, 3000, 20_000])
@pytest.mark.parametrize(("form", "name"), [("PNG", "a.png"), ("JPEG", "a.jpg")])
def test_no_picture_is_beyond_its_bytes(form: str, name: str, most: int):
    data = picture(1, side=200, form=form)
    fitted, mime = Fit(max_bytes=most).fitted(data, ref(data, name))
    assert len(fitted) <= most
    assert opened(fitted).format == mime.removeprefix("image/").upper()


def test_what_was_stored_without_loss_stays_so_where_it_can():
    data = picture(1, side=100)
    assert Fit(max_pixels=900).fitted(data, ref(data))[1] == "image/png"
    jpeg = picture(1, side=100, form="JPEG")
    assert Fit(max_pixels=900).fitted(jpeg, ref(jpeg, "a.jpg"))[1] == "image/jpeg"


def test_the_shape_is_kept_and_it_is_upright():
    out = io.BytesIO()
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("RGB", (400, 100)).save(out, "JPEG", exif=turned)
    small = opened(Fit(max_pixels=10_000).fitted(out.getvalue(), ref(out.getvalue(), "a.jpg"))[0])
    assert small.size == (50, 200)


def test_only_what_is_beyond_a_limit_is_touched():
    data = picture(1, side=30)
    small = ref(data)
    assert not Fit().touches(small)
    assert not Fit(max_pixels=900, max_bytes=len(data)).touches(small)
    assert Fit(max_pixels=899).touches(small)
    assert Fit(max_bytes=len(data) - 1).touches(small)


def test_limits_are_part_of_who_answers():
    def identity(**limits: int) -> dict[str, str]:
        options = ModelOptions(base_url="http://h/v1", fit=Fit(**limits))
        return open_model(MODEL, options).identity

    plain = identity()
    assert not {"max_pixels", "max_bytes", "resize"} & set(plain)
    assert identity(max_pixels=5)["max_pixels"] == "5"
    assert identity(max_bytes=5000)["resize"].startswith("Lanczos, JPEG 95")


def test_boxes_in_pixels_of_a_smaller_picture_are_not_asked_for():
    fields = {"item": "i", "benchmark": "b", "task": "t", "form": "boxes", "prompt": "?"}
    shown = (ref(picture(1, side=30)),)
    model = open_model(MODEL, ModelOptions(base_url="http://h/v1", fit=Fit(max_pixels=100)))
    pixels = Request(**fields, images=shown, box_convention="xyxy")
    assert "--boxes xyxy-1000" in model.unsupported_reason(pixels)
    assert not model.unsupported_reason(Request(**fields, images=shown, box_convention="xyxy-1000"))
    roomy = open_model(MODEL, ModelOptions(base_url="http://h/v1", fit=Fit(max_pixels=900)))
    assert not roomy.unsupported_reason(pixels)


def test_a_damaged_picture_is_unreadable():
    with pytest.raises(DataError, match="truncated or damaged"):
        Fit(max_pixels=1).fitted(picture(1)[:200], ref(picture(1)))


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (Fit(max_pixels=0), "--max-pixels must be 1"),
        (Fit(max_bytes=9), "--max-bytes must be 1,000"),
    ],
)
def test_limits_that_leave_no_picture_are_refused(fit: Fit, words: str):
    with pytest.raises(UsageError, match=words):
        fit.check()


def test_a_run_sends_small_pictures_as_stored_and_large_ones_smaller(chat: Chat, tmp_path: Path):
    chat.plan(images=True)
    little, large = picture(1, side=30), picture(2, side=60)
    with DatasetWriter(
        tmp_path / "d", name="d", version="1", licence="CC0-1.0", source="tests"
    ) as writer:
        for name, data in (("little", little), ("large", large)):
            writer.add(page_item(name, images=(writer.add_image(data, name),)))
    options = ModelOptions(base_url=chat.url, fit=Fit(max_pixels=1000))
    summary = run(
        tmp_path / "d", [MODEL], tmp_path / "o", selection=Selection(rounds=2), options=options
    )
    assert summary.complete
    sent = {shown[0] for shown in chat.stats()["images"]}
    assert len(sent) == 2
    assert f"image/png {hashlib.sha256(little).hexdigest()}" in sent
    assert f"image/png {hashlib.sha256(large).hexdigest()}" not in sent
    assert RunFolder.open(tmp_path / "o").manifest().models[MODEL]["max_pixels"] == "1000"
    with pytest.raises(UsageError, match=r"max_pixels of openai:served \(1000, now unset\)"):
        run(tmp_path / "d", [MODEL], tmp_path / "o", options=ModelOptions(base_url=chat.url),
            selection=Selection(rounds=2))  # fmt: skip


@settings(max_examples=50)
@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 3000))
def test_the_size_of_what_is_sent_is_known_before(width: int, height: int, most: int):
    image = Image.new("RGB", (width, height))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    data = buffer.getvalue()
    fit = Fit(max_pixels=most)
    expected = fit.size(ref(data))
    if fit.touches(ref(data)):
        sent, _ = fit.fitted(data, ref(data))
        assert expected == opened(sent).size
    else:
        assert expected == (width, height)


def test_limits_are_read_back_from_an_identity_and_damage_is_no_limit():
    fit = Fit(max_pixels=9, max_bytes=2000)
    assert Fit.of(fit.identity) == fit
    assert Fit.of({"max_pixels": "many", "kind": "x"}) == Fit()


def test_limits_that_no_model_takes_are_wrong_use(tmp_path: Path):
    dataset = make_dataset(tmp_path / "d", pages=1)
    with pytest.raises(UsageError, match="--max-pixels: baseline:copy does not have these options"):
        run(dataset, ["baseline:copy"], tmp_path / "o",
            options=ModelOptions(fit=Fit(max_pixels=50)))  # fmt: skip
    assert not (tmp_path / "o").exists()


def test_scores_of_answers_to_smaller_pictures_say_so(chat: Chat, tmp_path: Path):
    chat.plan()
    dataset = make_dataset(tmp_path / "d", pages=2)
    for name, fit in (("whole", Fit()), ("small", Fit(max_pixels=50))):
        options = ModelOptions(base_url=chat.url, fit=fit)
        run(dataset, [MODEL], tmp_path / name, options=options)
    whole, small = (score_run(RunFolder.open(tmp_path / name)) for name in ("whole", "small"))
    assert whole
    for one, other in zip(whole, small, strict=True):
        if one.signature:
            assert other.signature.startswith(f"{one.signature}|pictures:max_pixels=50,resize=Lan")
            assert "pictures" not in one.signature
    assert any(each.signature for each in whole)


def url_of(path: str, data: Sequence[bytes] = (b"abc",), sha256: str = "x") -> bytes:
    image = ImageRef(path=path, sha256=sha256, width=1, height=1, size=3)
    request = Request(item="i", benchmark="b", task="t", form="text", prompt="?", images=(image,))
    (url,) = asyncio.run(data_urls(request, data, Fit()))
    return url


class CountedReads(Sequence[bytes]):
    """An image of 750 bytes, 1,000 in base64, that counts how often it is read."""

    count = 0

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: object) -> bytes:
        self.count += 1
        return b"x" * 750


def test_an_image_is_read_once_while_it_is_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("keju.models.images._kept_urls", {})
    monkeypatch.setattr("keju.models.images._MOST_KEPT", 3500)
    image = CountedReads()
    for name in ("a", "b", "c", "a", "d"):
        assert len(url_of("a.png", image, name)) > 1000
    assert image.count == 4
    url_of("a.png", image, "a")
    assert image.count == 4
    url_of("a.png", image, "b")  # the one that was not used for the longest time
    assert image.count == 5


def test_an_image_larger_than_all_that_is_kept_is_sent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("keju.models.images._kept_urls", kept := {})
    monkeypatch.setattr("keju.models.images._MOST_KEPT", 10)
    assert url_of("a.png")
    assert not kept


def test_a_picture_is_scaled_down_once_for_several_questions(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("keju.models.images._kept_urls", {})
    made: list[object] = []
    fitted = Fit.fitted
    monkeypatch.setattr(Fit, "fitted", lambda *given: made.append(given) or fitted(*given))
    data = picture(1, side=40)
    image = ImageRef(path="a.png", sha256="s", width=40, height=40, size=len(data))
    request = Request(item="i", benchmark="b", task="t", form="text", prompt="?", images=(image,))
    for fit in (Fit(max_pixels=50), Fit(max_pixels=50), Fit(max_pixels=90)):
        asyncio.run(data_urls(request, [data], fit))
    assert len(made) == 2


@pytest.mark.parametrize(
    ("path", "mime"),
    [("a.JPG", "image/jpeg"), ("a.jpeg", "image/jpeg"), ("a.tif", "image/tiff")],
)
def test_the_media_type_follows_the_extension(path: str, mime: str):
    assert url_of(path) == f'"data:{mime};base64,{base64.b64encode(b"abc").decode()}"'.encode()


def test_what_is_no_image_is_refused():
    with pytest.raises(DataError, match="no media type"):
        url_of('a.png";evil')
