"""Results of engines that keju does not run: what is read, matched, reported and refused."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from PIL import Image

from keju.datasets.line_kinds import FLOW
from keju.datasets.readers import import_dataset
from keju.datasets.readers.pages.page_items import form_of, read_result
from keju.datasets.store import Dataset
from keju.errors import KejuError
from keju.items import Request
from keju.models import DatasetAccess, ModelOptions, open_model, open_models
from keju.models.base import Answer, AskError
from keju.running import run
from keju.running.contents import access_of
from keju.running.requests import key_of, requests_for
from keju.runs import RunFolder

RECORDED = Path(__file__).parents[1] / "contracts" / "recorded"
ABOUT = {"name": "n", "version": "1", "licence": "CC0", "source": "s"}
PAGE = (
    '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/{}">'
    '<Page imageFilename="{}" imageWidth="{}" imageHeight="{}">{}</Page></PcGts>'
)
REGION = (
    '<TextRegion id="{0}" {3}><Coords points="1,1 9,1 9,9"/><TextLine id="{0}l">'
    '<Coords points="{2}"/><TextEquiv><Unicode>{1}</Unicode></TextEquiv></TextLine></TextRegion>'
)
ALTO = (
    '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description>'
    "<MeasurementUnit>{}</MeasurementUnit></Description><Layout>"
    '<Page WIDTH="{}" HEIGHT="{}"><PrintSpace>{}</PrintSpace></Page></Layout></alto>'
)
BLOCK = (
    '<TextBlock ID="{0}"><TextLine ID="{0}l" HPOS="{1}" VPOS="0" WIDTH="{2}" HEIGHT="{3}">'
    '<String CONTENT="{4}"/></TextLine></TextBlock>'
)
HOCR = (
    "<html><body><div class='ocr_page' title='image \"{}\"; bbox 0 0 20 40'>{}</div></body></html>"
)
SIZE = (20, 40)


def image(shade: int) -> bytes:
    out = io.BytesIO()
    Image.new("L", SIZE, shade).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A dataset of the pages lunyu/p1, lunyu/p2 and shiji/p1."""
    for shade, (name, text) in enumerate(
        {"lunyu/p1": "學而時習之", "lunyu/p2": "有朋自遠方來", "shiji/p1": "黃帝者"}.items()
    ):
        file = tmp_path / "scans" / f"{name}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(image(shade))
        file.with_suffix(".txt").write_text(text, "utf-8")
    import_dataset("pages", tmp_path / "scans", tmp_path / "dataset", **ABOUT)
    return tmp_path / "dataset"


def results(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def access(dataset: Path) -> DatasetAccess:
    opened = Dataset.open(dataset)
    return access_of(opened)


def answers(dataset: Path, folder: Path) -> dict[str, Answer | AskError]:
    """What a run would store of each page."""
    model = open_model(f"replay:Engine={folder}", ModelOptions(), access(dataset))

    async def ask(request: Request) -> Answer | AskError:
        try:
            return await model.answer(request, ())
        except AskError as error:
            return error

    requests = [r for item in Dataset.open(dataset).items() for r in requests_for(item)]
    return {request.item: asyncio.run(ask(request)) for request in requests}


def notes(dataset: Path, folder: Path) -> str:
    return "\n".join(open_model(f"replay:Engine={folder}", ModelOptions(), access(dataset)).notes)


def region(name: str, text: str, outline: str = "0,0 5,0 5,40 0,40", more: str = "") -> str:
    return REGION.format(name, text, outline, more)


def test_each_form_gives_its_text_in_its_own_order(dataset, tmp_path):
    order = (
        '<ReadingOrder><OrderedGroup id="o"><RegionRefIndexed index="1" regionRef="a"/>'
        '<RegionRefIndexed index="0" regionRef="b"/></OrderedGroup></ReadingOrder>'
    )
    page = PAGE.format(
        "2013-07-15", "p1.png", *SIZE, order + region("a", "習之") + region("b", "學而時")
    )
    blocks = BLOCK.format("a", 0, 5, 40, "有朋") + BLOCK.format("b", 10, 5, 40, "自遠方來")
    line = "<span class='ocr_line' title='bbox {} 0 {} 40'>{}</span>"
    lines = line.format(0, 5, "黃") + line.format(9, 14, "帝者")
    folder = results(
        tmp_path / "results",
        {
            "lunyu/page/p1.xml": page,
            "lunyu/alto/p2.xml": ALTO.format("pixel", *SIZE, blocks),
            "shiji/p1.hocr": HOCR.format("p1.png", lines),
        },
    )
    found = answers(dataset, folder)
    texts = {name: answer.text for name, answer in found.items()}
    assert texts == {
        "lunyu/p1": "學而時\n習之",
        "lunyu/p2": "有朋\n自遠方來",
        "shiji/p1": "黃\n帝者",
    }
    places = {name: [line.polygon for line in each.lines] for name, each in found.items()}
    left = ((0, 0), (5, 0), (5, 40), (0, 40))
    assert places["lunyu/p1"] == [left, left]
    assert places["lunyu/p2"] == [left, ((10, 0), (15, 0), (15, 40), (10, 40))]
    assert places["shiji/p1"] == [left, ((9, 0), (14, 0), (14, 40), (9, 40))]
    assert "results for 3 of 3 pages (files: 1 ALTO, 1 PAGE-XML, 1 hOCR)" in notes(dataset, folder)


def test_a_run_has_failures_for_missing_results_and_empty_answers_for_empty_files(
    dataset, tmp_path
):
    folder = results(
        tmp_path / "results",
        {
            "lunyu/p1.txt": "\ufeff學而時習之\n\f",
            "lunyu/p2.txt": "",
            "p9.txt": "x",
        },
    )
    run(dataset, [f"replay:Transkribus={folder}"], tmp_path / "run")
    stored = {each.item: each for each in RunFolder(tmp_path / "run").responses("Transkribus")}
    assert {name: each.status for name, each in stored.items()} == {
        "lunyu/p1": "answered", "lunyu/p2": "empty", "shiji/p1": "failed",
    }  # fmt: skip
    assert stored["lunyu/p1"].text == "學而時習之"
    assert stored["shiji/p1"].error.kind == "missing-answer"
    said = notes(dataset, folder)
    assert "Engine: results for 2 of 3 pages (files: 2 txt)" in said
    assert "pages without a result file (1): shiji/p1" in said
    assert "files that no page is named like (1): p9.txt" in said


def test_an_export_with_its_companions_is_read_as_it_lies(dataset, tmp_path):
    """Transkribus: DOCUMENT/page/*.xml, images, metadata.xml and mets.xml; namespace 2013."""
    page = PAGE.format("2013-07-15", "p1.png", *SIZE, region("a", "學而"))
    later = PAGE.format("2019-07-15", "p2.png", *SIZE, region("a", "有朋"))
    folder = results(
        tmp_path / "1234567",
        {
            "Lunyu/page/p1.xml": page,
            "Lunyu/page/p2.xml": later,
            "Lunyu/p1.png": image(9),
            "Lunyu/mets.xml": '<ns3:mets xmlns:ns3="http://www.loc.gov/METS/"/>',
            "Lunyu/metadata.xml": "<trpDocMetadata><docId>1</docId></trpDocMetadata>",
        },
    )
    found = answers(dataset, folder)
    assert found["lunyu/p1"].text == "學而"
    assert found["lunyu/p2"].text == "有朋"


def test_lines_beside_the_text_are_kept_apart_and_unknown_types_are_text(dataset, tmp_path):
    body = (
        region("a", "學而")
        + region("b", "論語卷一", more='type="header"')
        + region("c", "時習之", more='custom="structure {type:Strophe;}"')
    )
    folder = results(
        tmp_path / "results", {"lunyu/p1.xml": PAGE.format("2019-07-15", "", *SIZE, body)}
    )
    answer = answers(dataset, folder)["lunyu/p1"]
    assert answer.text == "學而\n時習之"
    assert [(line.text, line.kind) for line in answer.lines] == [
        ("學而", "main"), ("論語卷一", "head"), ("時習之", "main"),
    ]  # fmt: skip
    said = notes(dataset, folder)
    assert "declare as marginal" in said
    assert "from the text (1): " in said


@pytest.mark.parametrize(
    ("unit", "size", "scale"),
    [("pixel", (40, 80), 0.5), ("mm10", (200, 400), 0.1), ("inch1200", (10, 20), 2.0)],
)
def test_places_are_in_pixels_of_the_dataset_whatever_the_file_measures(
    dataset, tmp_path, unit, size, scale
):
    block = BLOCK.format("a", 2, 4, 8, "學")
    folder = results(tmp_path / "results", {"lunyu/p1.xml": ALTO.format(unit, *size, block)})
    (line,) = answers(dataset, folder)["lunyu/p1"].lines
    wanted = ((2, 0), (6, 0), (6, 8), (2, 8))
    for found, given in zip(line.polygon, wanted, strict=True):
        assert found == pytest.approx([side * scale for side in given])


@pytest.mark.parametrize("size", [(40, 40), (0, 0)])
def test_lines_measured_on_another_image_have_no_place(dataset, tmp_path, size):
    page = PAGE.format("2019-07-15", "", *size, region("a", "學"))
    folder = results(tmp_path / "results", {"lunyu/p1.xml": page})
    (line,) = answers(dataset, folder)["lunyu/p1"].lines
    assert (line.text, line.polygon) == ("學", ())


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030", "big5"])
def test_another_encoding_is_recognised_and_reported(dataset, tmp_path, encoding):
    text = "學而時習之不亦說乎有朋自遠方來不亦樂乎人不知而不慍不亦君子乎"
    folder = results(tmp_path / "results", {"lunyu/p1.txt": text.encode(encoding)})
    assert answers(dataset, folder)["lunyu/p1"].text == text
    assert "read as" in notes(dataset, folder)


BOMB = (
    '<!DOCTYPE a [<!ENTITY b "0123456789">]>'
    '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">&b;</PcGts>'
)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"lunyu/p1.txt": b"\xff\xfe\xff\xff\x81"}, r"lunyu/p1\.txt: .*Convert the file to UTF-8"),
        ({"lunyu/p1.xml": BOMB}, r"lunyu/p1\.xml: the XML has a DOCTYPE"),
        ({"lunyu/p1.xml": "<PcGts><Page>"}, r"lunyu/p1\.xml: not well-formed XML"),
        ({"lunyu/p1.xml": ALTO.replace("</Layout>", "<Page/></Layout>")},
         r"lunyu/p1\.xml: the file has 2 pages"),
        ({"lunyu/p1.hocr": b"\x81\xff ocr_page"}, r"p1\.hocr: .*Convert the file to UTF-8"),
        ({"lunyu/p1.hocr": HOCR.format("p1.png", "")[:-8]}, r"p1\.hocr: it ends without </html>"),
        ({"lunyu/p1.txt": "學" * 2_100_000}, r"p1\.txt: more than 1,000,000 characters"),
        ({"lunyu/p1.txt": "學", "lunyu/p1.xml": PAGE.format("2019-07-15", "", 1, 1, "")},
         r"page lunyu/p1: two results for one page: lunyu/p1\.txt and lunyu/p1\.xml"),
        ({"p1.txt": "學"}, r"p1\.txt: the name fits several pages: lunyu/p1, shiji/p1"),
        ({"zhuangzi/p1.txt": "北冥有魚"},
         r"file is named like a page.*zhuangzi/p1.*Pages: lunyu/p1, lunyu/p2"),
        ({"book.docx": "x"}, r"no \.txt, PAGE-XML, ALTO or hOCR file is named.*Files: none"),
        ({"p1.xml": "<document/>"}, r"no \.txt.*p1\.xml"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error_of_one_line(dataset, tmp_path, files, problem):
    folder = results(tmp_path / "results", files)
    with pytest.raises(KejuError, match=problem) as caught:
        open_model(f"replay:Engine={folder}", ModelOptions(), access(dataset))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("program", ["kraken", "ocrd"])
@pytest.mark.parametrize("form", ["page-xml", "alto"])
def test_files_that_other_programs_wrote_give_their_lines(program, form):
    folder = RECORDED / program
    wanted = msgspec.json.decode((folder / f"{form}.json").read_bytes())
    for path in sorted((folder / form).iterdir()):
        read = read_result(path, form_of(path))
        assert [line.text for line in read.lines] == [row["text"] for row in wanted[path.name]]
        rows = [line.text for line in read.lines if line.kind in FLOW]
        assert read.text.split("\n") == rows
        assert any(line.polygon for line in read.lines)
        if path.stem == "kinds" and program == "kraken":
            assert read.marginal


def test_a_link_that_leads_out_is_not_followed(dataset, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    folder = results(tmp_path / "results", {"lunyu/p2.txt": "有朋"})
    (folder / "lunyu" / "p1.txt").symlink_to(secret)
    with pytest.raises(KejuError, match="the link points outside"):
        open_model(f"replay:Engine={folder}", ModelOptions(), access(dataset))


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("replay:ppocr=F", "keju runs a model of this name"),
        ("replay:OpenAI=F", "keju runs a model of this name"),
        ("replay:a:b=F", "not a name for a report"),
        ("replay:=F", "not a name for a report"),
        ("replay:" + "x" * 61 + "=F", "not a name for a report"),
        ("replay:A=nowhere", "nowhere is not a folder"),
        ("replay:A=", "nothing is not a folder"),
        ("replay:A=s3://bucket/x", "not addresses"),
    ],
)
def test_a_name_or_folder_that_cannot_be_is_wrong_use(dataset, tmp_path, spec, problem):
    folder = results(tmp_path / "results", {"lunyu/p1.txt": "學"})
    with pytest.raises(KejuError, match=problem):
        open_model(spec.replace("=F", f"={folder}"), ModelOptions(), access(dataset))


def test_two_engines_need_two_names(dataset, tmp_path):
    folder = results(tmp_path / "results", {"lunyu/p1.txt": "學"})
    other = results(tmp_path / "other", {"lunyu/p1.txt": "學"})
    with pytest.raises(KejuError, match="Engine is the name of two models"):
        open_models(
            [f"replay:Engine={folder}", f"replay:Engine={other}"], ModelOptions(), access(dataset)
        )


def keys(dataset: Path, spec: str) -> dict[str, str]:
    """The key of the request for each page."""
    model = open_model(spec, ModelOptions(), access(dataset))
    requests = [r for item in Dataset.open(dataset).items() for r in requests_for(item)]
    return {request.item: key_of(request, model) for request in requests}


def test_the_key_of_a_page_follows_its_own_file_alone(dataset, tmp_path):
    folder = results(
        tmp_path / "results", {"lunyu/p1.txt": "學", "lunyu/p2.txt": "時", "other.txt": "x"}
    )
    spec = f"replay:Engine={folder}"
    first = keys(dataset, spec)
    assert open_model(spec, ModelOptions(), access(dataset)).identity == {"kind": "results"}
    (folder / "other.txt").write_text("y")
    assert keys(dataset, spec) == first
    (folder / "lunyu" / "p1.txt").write_text("而")
    (folder / "shiji").mkdir()
    (folder / "shiji" / "p1.txt").write_text("黃")
    now = keys(dataset, spec)
    assert {page for page in now if now[page] != first[page]} == {"lunyu/p1", "shiji/p1"}


def test_a_file_that_changes_after_it_was_opened_is_a_failure(dataset, tmp_path):
    folder = results(tmp_path / "results", {"lunyu/p1.txt": "學"})
    model = open_model(f"replay:Engine={folder}", ModelOptions(), access(dataset))
    (folder / "lunyu" / "p1.txt").write_text("而")
    (request,) = (r for item in Dataset.open(dataset).items() for r in requests_for(item)
                  if item.id == "lunyu/p1")  # fmt: skip
    with pytest.raises(AskError, match="changed while it was read"):
        asyncio.run(model.answer(request, ()))


def test_a_run_whose_key_is_of_the_whole_folder_is_read_again(dataset, tmp_path):
    folder = results(tmp_path / "results", {"lunyu/p1.txt": "學", "lunyu/p2.txt": "時"})
    spec = f"replay:Engine={folder}"
    run(dataset, [spec], tmp_path / "run")
    made = RunFolder(tmp_path / "run")
    (path,) = made.response_files("Engine")
    whole = path.read_bytes()
    # As keju stored it when the identity was a hash over all files.
    lines = [msgspec.json.decode(line) for line in whole.splitlines()]
    old = [{**line, "key": "0" * 64, "source_sha256": ""} for line in lines]
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in old))
    manifest = made.manifest()
    identity = {"kind": "results", "sha256": "1" * 64}
    made.write_manifest(msgspec.structs.replace(manifest, models={"Engine": identity}))
    summary = run(dataset, [spec], tmp_path / "run")
    assert summary.models[0].asked == 3
    assert RunFolder(tmp_path / "run").manifest().models == {"Engine": {"kind": "results"}}
    now = {each.item: each.key for each in made.responses("Engine")}
    assert now == {line["item"]: line["key"] for line in lines}


def test_a_path_with_an_equals_sign_is_still_a_file_of_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a=b.jsonl").write_text('{"item": "x", "text": "天"}\n', encoding="utf-8")
    assert open_model("replay:a=b.jsonl", ModelOptions()).name == "replay:a=b.jsonl"
