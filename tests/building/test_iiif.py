"""IIIF manifests from disk and from a real server: polite, resumable, nothing from elsewhere."""

from __future__ import annotations

import csv
import io
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image

from keju.building import pipeline
from keju.building.engine import Engine
from keju.building.recipe import read_recipe
from keju.building.sources.fetching import AGENT, Fetcher, ServerUnavailableError
from keju.building.sources.manifests import read_manifest
from keju.datasets.store import Dataset
from keju.errors import DataError, ProblemsError, UsageError
from keju.items import Item
from tests.support.making import picture

CC0 = "https://creativecommons.org/publicdomain/zero/1.0/"


class Library:
    """A server of manifests and images that can be told to misbehave, and remembers what it saw."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, float, str]] = []
        self.manifests: dict[str, object] = {}
        self.ills: dict[str, list[object]] = {}
        self.at_once = self.most_at_once = 0
        self.counting = threading.Lock()
        self.endless = False
        library = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                library.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path
        self.seen.append((path, time.monotonic(), handler.headers["User-Agent"]))
        with self.counting:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        ill = self.ills.get(path, [])
        kind = ill.pop(0) if ill else None
        body = self.body(path)
        time.sleep(0.01)  # A second request that is already sent arrives meanwhile.
        # Before the first byte leaves: whoever has the last one may rightly ask again.
        with self.counting:
            self.at_once -= 1
        if isinstance(kind, tuple):
            status, headers = kind
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(200 if body else 404)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if kind == "slow":
            for place in range(len(body)):
                handler.wfile.write(body[place : place + 1])
                time.sleep(0.05)
            return
        handler.wfile.write(body[: len(body) // 2] if kind == "cut" else body)

    def body(self, path: str) -> bytes:
        if self.endless and path.startswith("/loop"):
            inner = {"type": "Collection", "id": f"{self.url}/loop{len(self.seen)}"}
            return json.dumps({"type": "Collection", "items": [inner]}).encode()
        if path in self.manifests:
            return json.dumps(self.manifests[path]).encode()
        if not path.startswith("/image/"):
            return b""
        _, _, name, _, size, *_ = path.split("/")
        width = 400 if size in {"full", "max"} else int(size.rstrip(","))
        out = io.BytesIO()
        shade = 40 + 10 * int(name.lstrip("p"))
        Image.new("RGB", (width, width * 3 // 2), (shade,) * 3).save(out, "JPEG")
        return out.getvalue()

    def asked(self) -> Counter[str]:
        return Counter(path for path, _, _ in self.seen)


@pytest.fixture
def library() -> Iterator[Library]:
    made = Library()
    yield made
    made.server.shutdown()


def version_2(url: str, pages: int = 3, **more: object) -> dict[str, object]:
    canvases = [
        {
            "@type": "sc:Canvas", "label": f"葉{n}", "width": 400, "height": 600,
            "images": [{"resource": {
                "@id": f"{url}/image/p{n}/full/full/0/default.jpg", "width": 400, "height": 600,
                "service": {"@context": "http://iiif.io/api/image/2/context.json",
                            "@id": f"{url}/image/p{n}",
                            "profile": "http://iiif.io/api/image/2/level2.json"},
            }}],
        }
        for n in range(1, pages + 1)
    ]  # fmt: skip
    return {
        "@context": "http://iiif.io/api/presentation/2/context.json", "@type": "sc:Manifest",
        "@id": f"{url}/books/b1/manifest", "label": [{"@value": "論語", "@language": "zh"}],
        "license": CC0, "attribution": "A Library", "sequences": [{"canvases": canvases}], **more,
    }  # fmt: skip


def version_3(url: str, pages: int = 3, **more: object) -> dict[str, object]:
    canvases = [
        {
            "type": "Canvas", "label": {"zh": [f"葉{n}"]}, "width": 400, "height": 600,
            "items": [{"type": "AnnotationPage", "items": [{"type": "Annotation", "body": {
                "id": f"{url}/image/p{n}/full/max/0/default.jpg", "type": "Image",
                "width": 400, "height": 600,
                "service": [{"id": f"{url}/image/p{n}", "type": "ImageService3",
                             "profile": "level1"}],
            }}]}],
        }
        for n in range(1, pages + 1)
    ]  # fmt: skip
    return {
        "@context": "http://iiif.io/api/presentation/3/context.json", "type": "Manifest",
        "id": f"{url}/books/b1/manifest", "label": {"en": ["Analects"], "zh": ["論語"]},
        "rights": CC0, "requiredStatement": {"value": {"en": ["A Library"]}},
        "items": canvases, **more,
    }  # fmt: skip


def recipe(folder: Path, lines: str) -> Path:
    file = folder / "recipe.toml"
    head = 'name = "t"\n[[source]]\nform = "iiif"\nsource = "A Library"\npause = 0.0\n'
    file.write_text(head + lines, "utf-8")
    return file


@pytest.mark.parametrize("pause", ["1e300", "3601", "-1"])
def test_a_pause_of_more_than_an_hour_is_refused(tmp_path: Path, pause: str) -> None:
    file = recipe(tmp_path, 'url = "http://127.0.0.1:1/x"\n')
    file.write_text(file.read_text("utf-8").replace("pause = 0.0", f"pause = {pause}"), "utf-8")
    with pytest.raises(ProblemsError, match=r"source 1 \(iiif\): pause: expected a number"):
        read_recipe(file)


def built(folder: Path, lines: str) -> list[Item]:
    pipeline.build(read_recipe(recipe(folder, lines)), folder / "build", engine=Engine())
    return Dataset.open(folder / "build" / "dataset").items()


def left(folder: Path) -> list[dict[str, str]]:
    file = folder / "build" / "sources" / "01-iiif" / "tables" / "dropped.csv"
    return list(csv.DictReader(file.read_text("utf-8-sig").splitlines()))


@pytest.mark.parametrize("version", [version_2, version_3])
def test_both_versions_become_drafts_with_their_rights(library, tmp_path, version):
    library.manifests["/b1"] = version(library.url)
    items = built(tmp_path, f'url = "{library.url}/b1"\npixels = 60000')
    assert [item.id for item in items] == ["b1/0001", "b1/0002", "b1/0003"]
    first = items[0]
    assert (first.group, first.metadata["page"], first.draft) == ("論語", "葉1", True)
    assert first.metadata["attribution"] == "A Library"
    assert first.provenance[0].licence == CC0
    assert first.provenance[0].source == f"{library.url}/books/b1/manifest"
    assert (first.images[0].width, first.images[0].height) == (200, 300), "size by the Image API"
    assert Dataset.open(tmp_path / "build" / "dataset").manifest.licence == CC0
    assert all(agent == AGENT for _, _, agent in library.seen)
    assert library.most_at_once == 1


@pytest.mark.parametrize(("version", "size"), [(version_2, "full"), (version_3, "max")])
def test_pictures_within_the_budget_are_asked_for_whole(library, tmp_path, version, size):
    library.manifests["/b1"] = version(library.url, 1)
    built(tmp_path, f'url = "{library.url}/b1"')
    assert library.seen[1][0] == f"/image/p1/full/{size}/0/default.jpg"


def test_what_was_fetched_is_never_fetched_again(library, tmp_path):
    library.manifests["/b1"] = version_3(library.url)
    broken = "/image/p3/full/max/0/default.jpg"
    library.ills[broken] = [(500, {})] * 5
    with pytest.raises(DataError, match=r"HTTP 500.*Build again later"):
        built(tmp_path, f'url = "{library.url}/b1"')
    assert len(built(tmp_path, f'url = "{library.url}/b1"')) == 3
    asked = library.asked()
    assert asked.pop(broken) == 6
    assert set(asked.values()) == {1}
    library.server.shutdown()
    assert len(built(tmp_path, f'url = "{library.url}/b1"\nlimit = 2')) == 2, "even without it"


def test_a_page_that_the_server_refuses_is_listed(library, tmp_path):
    library.manifests["/b1"] = version_3(library.url)
    library.ills["/image/p2/full/max/0/default.jpg"] = [(403, {})]
    items = built(tmp_path, f'url = "{library.url}/b1"')
    assert [item.id for item in items] == ["b1/0001", "b1/0003"]
    (row,) = left(tmp_path)
    assert (row["subject"], "HTTP 403" in row["reason"]) == ("2 葉2", True)


def test_a_manifest_without_rights_is_refused_by_name(library, tmp_path):
    bare = version_2(library.url)
    del bare["license"]
    library.manifests["/b1"] = bare
    with pytest.raises(DataError, match="states no rights"):
        built(tmp_path, f'url = "{library.url}/b1"')
    assert len(library.seen) == 1, "no picture was asked for"
    items = built(tmp_path, f'url = "{library.url}/b1"\nlicence = "PDM-1.0"')
    assert items[0].provenance[0].licence == "PDM-1.0"


def test_rights_that_are_not_accepted_are_refused(library, tmp_path):
    library.manifests["/b1"] = version_3(library.url, rights="https://example.org/all-reserved")
    with pytest.raises(DataError, match=r"not accepted: https://example\.org/all"):
        built(tmp_path, f'url = "{library.url}/b1"\naccept = ["creativecommons.org"]')


def test_other_hosts_are_not_asked_unless_allowed(library, tmp_path):
    other = Library()
    library.manifests["/b1"] = version_3(other.url)
    with pytest.raises(UsageError, match="which the recipe does not allow"):
        built(tmp_path, f'url = "{library.url}/b1"')
    assert other.seen == []
    items = built(tmp_path, f'url = "{library.url}/b1"\nhosts = ["{other.host}"]')
    assert len(items) == 3
    other.server.shutdown()


def test_a_redirection_to_another_host_is_refused(library, tmp_path):
    other = Library()
    library.manifests["/b1"] = version_3(library.url, 1)
    path = "/image/p1/full/max/0/default.jpg"
    library.ills[path] = [(302, {"Location": other.url + path})]
    with pytest.raises(UsageError, match=other.host):
        built(tmp_path, f'url = "{library.url}/b1"')
    assert other.seen == []
    other.server.shutdown()


def test_manifests_on_disk_need_their_hosts_named(library, tmp_path):
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "a.json").write_text(json.dumps(version_2(library.url, 1)))
    (tmp_path / "books" / "b.json").write_text('{"type": "Thing"}')
    with pytest.raises(UsageError, match=r"hosts: none"):
        built(tmp_path, 'path = "books"')
    items = built(tmp_path, f'path = "books"\nhosts = ["{library.host}"]')
    assert len(items) == 1
    assert "not an IIIF manifest" in left(tmp_path)[0]["reason"]


def test_books_whose_addresses_end_alike_are_told_apart(library, tmp_path):
    books = tmp_path / "books"
    for place, address in (("a", "x/1"), ("b", "y/1"), ("c", "z/2"), ("d", ""), ("e", "")):
        (books / place).mkdir(parents=True)
        known = f"{library.url}/{address}/manifest" if address else ""
        (books / place / "m.json").write_text(json.dumps(version_3(library.url, 1, id=known)))
    lines = f'path = "books"\nhosts = ["{library.host}"]'
    names = [item.id for item in built(tmp_path, lines)]
    assert [name.split("-")[0] for name in names] == ["1", "1", "2/0001", "m", "m"]
    assert len({*names}) == 5
    assert left(tmp_path) == []
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    books.rename(elsewhere / "books")
    assert [item.id for item in built(elsewhere, lines)] == names


def on_disk(folder: Path, *names: str) -> None:
    """A manifest whose canvases show files of those names; two pictures lie there."""
    books = folder / "books"
    (books / "葉").mkdir(parents=True)
    for place, name in enumerate(("葉/一.png", "2.png"), 1):
        (books / name).write_bytes(picture(place))
    (folder / "outside.png").write_bytes(picture(3))
    content = version_3("http://nowhere", len(names))
    for canvas, name in zip(content["items"], names, strict=True):
        canvas["items"][0]["items"][0]["body"] = {"id": name, "type": "Image"}
    (books / "a.json").write_text(json.dumps(content))


def test_pictures_beside_a_manifest_on_disk_are_taken(tmp_path):
    on_disk(tmp_path, "葉/一.png", "2.png")
    items = built(tmp_path, 'path = "books/a.json"')
    dataset = Dataset.open(tmp_path / "build" / "dataset")
    assert [dataset.image_bytes(item.images[0]) for item in items] == [picture(1), picture(2)]
    assert [item.metadata["address"] for item in items] == ["葉/一.png", "2.png"]
    (tmp_path / "books" / "2.png").write_bytes(picture(4))
    _, changed = built(tmp_path, 'path = "books/a.json"')
    dataset = Dataset.open(tmp_path / "build" / "dataset")
    assert dataset.image_bytes(changed.images[0]) == picture(4)


@pytest.mark.parametrize("name", ["../outside.png", "/etc/hostname", "//nowhere/2.png", "no.png"])
def test_pictures_elsewhere_on_disk_are_not(tmp_path, name):
    on_disk(tmp_path, "2.png", name)
    assert len(built(tmp_path, 'path = "books"')) == 1
    assert ("must be inside" in left(tmp_path)[0]["reason"]) is (name != "no.png")


def test_a_manifest_on_a_server_names_no_files(library, tmp_path):
    content = version_3(library.url, 1)
    content["items"][0]["items"][0]["items"][0]["body"] = {"id": "/etc/hostname", "type": "Image"}
    library.manifests["/b1"] = content
    with pytest.raises(UsageError, match=r"/etc/hostname: not an address that begins with http"):
        built(tmp_path, f'url = "{library.url}/b1"')


def test_a_collection_leads_to_its_manifests(library, tmp_path):
    for name in ("b1", "b2"):
        book = version_3(library.url, 1, id=f"{library.url}/books/{name}/manifest")
        library.manifests[f"/{name}"] = book
    listed = [{"type": "Manifest", "id": f"{library.url}/{name}"} for name in ("b1", "b2")]
    inner = {"type": "Collection", "id": f"{library.url}/inner", "items": listed}
    library.manifests["/inner"] = inner
    circle = [{"type": "Collection", "id": f"{library.url}/{name}"} for name in ("inner", "top")]
    library.manifests["/top"] = {"type": "Collection", "items": circle}
    items = built(tmp_path, f'url = "{library.url}/top"')
    assert [item.id for item in items] == ["b1/0001", "b2/0001"]


def test_dead_members_of_a_collection_are_listed_and_the_others_read(library, tmp_path):
    library.manifests["/b1"] = version_3(library.url, 1, id=f"{library.url}/books/b1/manifest")
    listed = [{"type": "Manifest", "id": f"{library.url}/{name}"} for name in ("gone", "b1")]
    library.manifests["/top"] = {"type": "Collection", "items": listed}
    assert [item.id for item in built(tmp_path, f'url = "{library.url}/top"')] == ["b1/0001"]
    (row,) = left(tmp_path)
    assert row["subject"] == f"{library.url}/gone"
    assert "HTTP 404" in row["reason"]


def test_a_collection_without_end_stops(library, tmp_path):
    library.endless = True
    library.manifests["/b1"] = version_3(library.url, 1, id=f"{library.url}/books/b1/manifest")
    listed = [{"type": "Collection", "id": f"{library.url}/loop"}, {"id": f"{library.url}/b1"}]
    library.manifests["/top"] = {"type": "Collection", "items": listed}
    assert [item.id for item in built(tmp_path, f'url = "{library.url}/top"')] == ["b1/0001"]
    (row,) = left(tmp_path)
    assert "more than 10 nested collections" in row["reason"]
    assert len(library.seen) < 20


def test_a_server_that_sends_a_byte_at_a_time_is_given_up(library, tmp_path):
    library.manifests["/b1"] = version_2(library.url)
    library.ills["/b1"] = ["slow"]
    fetcher = Fetcher(tmp_path, [library.host], pause=0.0, longest=0.3)
    with pytest.raises(ServerUnavailableError, match="took more than"):
        fetcher.get(f"{library.url}/b1")
    assert len(library.seen) == 1


def test_a_server_that_asks_for_patience_gets_it(library, tmp_path):
    fetcher = Fetcher(tmp_path, [library.host], pause=0.0)
    library.manifests["/b1"] = version_2(library.url)
    library.ills["/b1"] = [(429, {"Retry-After": "1"}), (503, {}), "cut"]
    assert json.loads(fetcher.get(f"{library.url}/b1").read_bytes())["label"]
    times = [at for _, at, _ in library.seen]
    assert len(times) == 4
    assert times[1] - times[0] >= 0.99


def test_requests_keep_their_distance(library, tmp_path):
    fetcher = Fetcher(tmp_path, [library.host], pause=0.2)
    for n in range(1, 4):
        fetcher.get(f"{library.url}/image/p{n}/full/max/0/default.jpg")
    first, second, third = (at for _, at, _ in library.seen)
    assert second - first >= 0.19
    assert third - second >= 0.19


def test_what_is_not_there_is_asked_for_once(library, tmp_path):
    fetcher = Fetcher(tmp_path, [library.host], pause=0.0)
    with pytest.raises(DataError, match="HTTP 404"):
        fetcher.get(f"{library.url}/nothing")
    assert len(library.seen) == 1


def test_chinese_in_an_address_is_sent_as_servers_take_it(library, tmp_path):
    fetcher = Fetcher(tmp_path, {library.host}, pause=0)
    with pytest.raises(DataError, match="refused: HTTP 404"):
        fetcher.get(f"{library.url}/書 一/%E6%9B%B8?q=天")
    assert library.seen[-1][0] == "/%E6%9B%B8%20%E4%B8%80/%E6%9B%B8?q=%E5%A4%A9"


def test_answers_have_a_largest_size(library, tmp_path):
    fetcher = Fetcher(tmp_path, [library.host], pause=0.0, most=1000)
    with pytest.raises(DataError, match="larger than 1,000 bytes"):
        fetcher.get(f"{library.url}/image/p1/full/max/0/default.jpg")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "url", ["http://[/x", "file:///etc/passwd", "ftp://x/y", "no address", "http://"]
)
def test_only_addresses_of_the_web_are_fetched(url, tmp_path):
    with pytest.raises(UsageError, match="not an address"):
        Fetcher(tmp_path, ["x"]).get(url)


def test_a_level_0_server_is_asked_for_what_the_manifest_names():
    book = version_3("http://x")
    body = book["items"][0]["items"][0]["items"][0]["body"]
    body["service"][0]["profile"] = "level0"
    manifest = read_manifest(book)
    assert manifest.pages[0].get_image_address(1000) == "http://x/image/p1/full/max/0/default.jpg"
    assert manifest.pages[1].get_image_address(1000) == "http://x/image/p2/full/25,/0/default.jpg"


def test_a_choice_of_pictures_gives_the_first():
    book = version_3("http://x", 1)
    annotation = book["items"][0]["items"][0]["items"][0]
    annotation["body"] = {"type": "Choice", "items": [annotation["body"], {"id": "other"}]}
    assert read_manifest(book).pages[0].service == "http://x/image/p1"


STANFORD = "http://library.stanford.edu/iiif/image-api"
IIIF = "http://iiif.io/api/image"
FULL = "http://x/i/full/full/0/default.jpg"
NATIVE = "http://x/i/full/full/0/native.jpg"


@pytest.mark.parametrize(
    ("about", "image", "whole", "small"),
    [
        # Version 1 by its context, its profile in every form, its type, or the image's address.
        ({"@context": f"{IIIF}/1/context.json"}, "p.jpg",
         "full/full/0/native", "full/632,/0/native"),
        ({"profile": f"{STANFORD}/1.1/compliance.html#level2"}, NATIVE,
         "full/full/0/native", "full/632,/0/native"),
        ({"profile": f"{STANFORD}/compliance.html#level1"}, "p.jpg",
         "full/full/0/native", "full/632,/0/native"),
        ({"@context": f"{STANFORD}/1.1/context.json", "profile": [f"{STANFORD}/1.1/conformance.html"
          "#level1"]}, "p.jpg", "full/full/0/native", "full/632,/0/native"),
        ({"profile": f"{IIIF}/1/level2.json"}, "p.jpg", "full/full/0/native", "full/632,/0/native"),
        ({"@type": "ImageService1", "profile": "level2"}, "p.jpg",
         "full/full/0/native", "full/632,/0/native"),
        ({}, NATIVE, "full/full/0/native", "full/632,/0/native"),
        ({"profile": f"{IIIF}/1/level1.json"}, FULL, "full/full/0/default", "full/632,/0/default"),
        # Version 2, and none that is declared.
        ({"@context": f"{IIIF}/2/context.json"}, NATIVE, "full/full/0/default",
         "full/632,/0/default"),
        ({"@type": "ImageService2", "profile": "level1"}, "p.jpg",
         "full/full/0/default", "full/632,/0/default"),
        ({"profile": [f"{IIIF}/2/level1.json", {"formats": ["jpg"]}]}, FULL,
         "full/full/0/default", "full/632,/0/default"),
        ({}, FULL, "full/full/0/default", "full/632,/0/default"),
        ({}, "p.jpg", "full/full/0/default", "full/632,/0/default"),
        ({"@id": "http://x/i/info.json"}, "p.jpg", "full/full/0/default", "full/632,/0/default"),
        # Version 3.
        ({"type": "ImageService3", "profile": "level2"}, "http://x/i/full/max/0/default.jpg",
         "full/max/0/default", "full/632,/0/default"),
        # What the address of the image says about region, rotation and quality is kept.
        ({"@context": f"{IIIF}/2/context.json"}, "http://x/i/0,0,2000,3000/full/0/gray.jpg",
         "0,0,2000,3000/full/0/gray", "0,0,2000,3000/632,/0/gray"),
        ({"@context": f"{IIIF}/2/context.json"}, "http://x/i/full/full/90/default.jpg",
         "full/full/90/default", "full/948,/90/default"),
        # A server without scaling has the sizes that it lists.
        ({"profile": f"{IIIF}/2/level0.json"}, FULL, "full/full/0/default", "full/full/0/default"),
        ({"profile": f"{IIIF}/2/level0.json", "sizes": [
            {"width": 1000, "height": 1500}, {"width": "500", "height": "750"},
            {"width": 125, "height": 188}]}, FULL, "full/full/0/default", "full/500,750/0/default"),
        ({"profile": f"{IIIF}/2/level0.json", "sizes": [{"width": 1000, "height": 1500}]}, FULL,
         "full/full/0/default", "full/1000,1500/0/default"),
    ],
)  # fmt: skip
def test_an_image_is_requested_as_its_server_understands(about, image, whole, small):
    for size in ((2000, 3000), ("2000", "3000"), (2000.0, 3000.0)):
        book = version_2("http://x", 1)
        resource = book["sequences"][0]["canvases"][0]["images"][0]["resource"]
        resource |= {"@id": image, "width": size[0], "height": size[1]}
        resource["service"] = {"@id": "http://x/i", **about}
        (page,) = read_manifest(book).pages
        assert page.get_image_address(0) == f"http://x/i/{whole}.jpg"
        assert page.get_image_address(600_000) == f"http://x/i/{small}.jpg"


AUTH = {"@context": "http://iiif.io/api/auth/1/context.json", "@id": "http://x/login",
        "profile": "http://iiif.io/api/auth/1/login"}  # fmt: skip
SERVICE = {"@context": f"{IIIF}/2/context.json", "@id": "http://x/i"}


@pytest.mark.parametrize(
    ("services", "address"),
    [
        ([AUTH, SERVICE], FULL),
        ([AUTH, {"@id": "http://x/i"}], FULL),
        (AUTH, "p.jpg"),
        ("http://x/i", FULL),
        (None, "p.jpg"),
    ],
)
def test_the_service_of_images_is_found_among_others(services, address):
    book = version_2("http://x", 1)
    resource = book["sequences"][0]["canvases"][0]["images"][0]["resource"]
    resource |= {"@id": "p.jpg", "service": services}
    assert read_manifest(book).pages[0].get_image_address(0) == address


def painted(name: str, **more: object) -> dict[str, object]:
    return {"@id": f"http://x/{name}.jpg", "@type": "dctypes:Image", **more}


PART = {"@type": "oa:SpecificResource", "@id": "http://x/part",
        "full": painted("a", service=SERVICE),
        "selector": {"@type": "iiif:ImageApiSelector", "region": "10,20,300,400"}}  # fmt: skip


@pytest.mark.parametrize(
    ("images", "addresses", "alternatives"),
    [
        ([painted("a"), painted("b")], ["http://x/a.jpg", "http://x/b.jpg"], 1),
        ([painted("a"), painted("a")], ["http://x/a.jpg"], 1),
        ([{"@type": "oa:Choice", "default": painted("a"), "item": [painted("b"), painted("c")]}],
         ["http://x/a.jpg"], 3),
        ([{"@type": "oa:Choice", "default": painted("a"), "item": "rdf:nil"}],
         ["http://x/a.jpg"], 1),
        ([PART], ["http://x/i/10,20,300,400/full/0/default.jpg"], 1),
        ([{"@id": "http://x/n", "@type": "cnt:ContentAsText"}, painted("b")],
         ["http://x/b.jpg"], 1),
        ([{"@type": "dctypes:Sound", "@id": "http://x/s.mp3"}], [], 1),
        ([], [], 1),
    ],
)  # fmt: skip
def test_each_image_of_a_canvas_is_a_page(images, addresses, alternatives):
    book = version_2("http://x", 2)
    first = book["sequences"][0]["canvases"][0]
    first["images"] = [{"motivation": "sc:painting", "resource": image} for image in images]
    first["images"].append({"motivation": "oa:commenting", "resource": painted("comment")})
    manifest = read_manifest(book)
    pages = [page for page in manifest.pages if page.number == 1]
    assert [page.get_image_address(0) for page in pages] == addresses
    assert [page.part for page in pages] == list(range(1, len(pages) + 1))
    assert all(page.alternatives == alternatives for page in pages)
    assert len(manifest.without_image) == (not addresses)
    canvas = version_3("http://x", 1)["items"][0]
    body = canvas["items"][0]["items"][0]
    kinds = {"oa:Choice": "Choice", "oa:SpecificResource": "SpecificResource"}
    for image in images:
        if kind := kinds.get(str(image["@type"])):
            image = {  # noqa: PLW2901
                "type": kind, "items": [image.get("default"), image.get("item")],
                "source": image.get("full"), "selector": image.get("selector"),
            }  # fmt: skip
        body["body"] = [*body.get("body", []), image] if isinstance(body["body"], list) else [image]
    if images:
        found = read_manifest({"type": "Manifest", "items": [canvas]}).pages
        assert [page.get_image_address(0) for page in found] == addresses


def test_resources_in_resources_end():
    body: object = painted("a")
    for _ in range(900):
        body = {"type": "Choice", "items": [body]}
    canvas = {"items": [{"items": [{"body": body}]}]}
    assert read_manifest({"type": "Manifest", "items": [canvas]}).pages == ()


def test_a_build_names_canvases_of_several_images_and_those_without(library, tmp_path):
    book = version_2(library.url, 4)
    canvases = book["sequences"][0]["canvases"]
    canvases[0]["images"] += canvases[3]["images"]
    canvases[1]["images"] = []
    (shown,) = canvases[2]["images"]
    other = {**shown["resource"], "service": {"@id": f"{library.url}/image/p9"}}
    shown["resource"] = {"@type": "oa:Choice", "default": shown["resource"], "item": other}
    library.manifests["/b1"] = book
    items = built(tmp_path, f'url = "{library.url}/b1"')
    assert [item.id for item in items] == ["b1/0001", "b1/0001-2", "b1/0003", "b1/0004"]
    (row,) = left(tmp_path)
    assert (row["subject"], row["reason"]) == ("2 葉2", "the canvas shows no image")
    notes = (tmp_path / "build/sources/01-iiif/step.json").read_text("utf-8")
    assert "1 canvas shows several images, and each image is an item: b1/0001" in notes
    assert (
        "1 canvas offers alternative images, and the first or default one is used: b1/0003" in notes
    )


@pytest.mark.parametrize(
    "content",
    [
        None, [], "x", {}, {"type": "Manifest"},
        {"type": "Manifest", "items": 3}, {"type": "Manifest", "items": [None, 1, {}]},
        {"sequences": [None]}, {"sequences": [{"canvases": [None, {"images": [{}]}]}]},
        {"sequences": {}, "label": {}, "license": [1, None], "@id": 7},
    ],
)  # fmt: skip
def test_odd_manifests_have_no_pages_or_are_refused(content):
    with suppress(DataError):
        assert read_manifest(content).pages == ()


def test_a_host_that_cannot_be_written_in_a_request_is_named(tmp_path: Path) -> None:
    fetcher = Fetcher(tmp_path, ["127.0.0.1，x"], pause=0.0)
    with pytest.raises(DataError, match="the host cannot be contacted"):
        fetcher.get("http://127.0.0.1，x/manifest.json")
