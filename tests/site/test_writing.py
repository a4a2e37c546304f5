"""Sites from bundles: their numbers, what is shown of which data, and later builds."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from lxml import html
from msgspec.structs import replace

from keju.analysis.leaderboard import leaderboards
from keju.analysis.run_set import load_runs
from keju.bundles import open_bundle, verify_bundle
from keju.errors import DataError, UsageError
from keju.formatting import percent
from keju.published import published_tables
from keju.scoring.stored import read_fingerprint
from keju.site import read_model_facts, write_site
from tests.bundles.bundling import altered, members_of
from tests.support.scored_runs import HOSTILE
from tests.support.stored_scores import read_scores, write_scores


def content(site: Path) -> dict[str, bytes]:
    return {str(p.relative_to(site)): p.read_bytes() for p in site.rglob("*") if p.is_file()}


def copied(bundles: Path, folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        shutil.copy(bundles / "all" / name, folder / name)
    return folder


def test_the_numbers_are_those_of_a_report_of_the_same_runs(bundles, site):
    work = bundles / "work"
    run_set = load_runs([work / "run", work / "second"])
    (board,) = leaderboards(run_set, run_set.results)
    rows = [row for group in board.groups for row in group.rows]
    expected = sorted(
        (f"replay:{Path(row.model).name}", protocol, round(mean.value, 5),
         mean.bounds and tuple(round(each, 5) for each in mean.bounds), rank.place, rank.possible)
        for row in rows
        for protocol, mean, rank in zip(board.protocols, row.overall, row.ranks, strict=True)
    )  # fmt: skip
    (path,) = site.glob("data/boards/*/leaderboard.json")
    found = sorted(
        (each["model"], each["protocol"], each["value"],
         None if each["low"] is None else (each["low"], each["high"]), each["rank"],
         None if each["rank_first"] is None else (each["rank_first"], each["rank_last"]))
        for each in json.loads(path.read_text("utf-8"))["rows"]
        if each["part"] == "overall"
    )  # fmt: skip
    assert len(found) == 6
    assert found == expected


def test_every_page_exists_in_both_languages_and_links_lead_to_files(site):
    english = {p.relative_to(site / "en") for p in (site / "en").rglob("*.html")}
    assert english == {p.relative_to(site / "zh") for p in (site / "zh").rglob("*.html")}
    assert {path.parts[0] for path in english} == {
        "index.html", "about.html", "boards", "items", "models", "tasks"
    }  # fmt: skip
    for page in site.rglob("*.html"):
        tree = html.fromstring(page.read_bytes())
        links = [*tree.xpath("//@href"), *tree.xpath("//@src")]
        assert links
        for link in links:
            target = link.partition("#")[0]
            assert not target or (page.parent / target).resolve().is_file(), (page, link)
        assert "default-src 'none'" in tree.xpath("//meta[@http-equiv]/@content")[0]
        assert not tree.xpath("//script[not(@src) and not(@type='application/json')]")
        assert not tree.xpath("//@style | //style")


def test_texts_of_bundles_are_never_markup(site):
    for path in (*site.rglob("*.html"), *site.glob("data/**/*.js")):
        text = path.read_text("utf-8")
        assert HOSTILE not in text
        assert "<img src=x" not in text
        if path.suffix == ".js":
            assert not set("<>&\u2028") & set(text)
    answers = "".join(p.read_text("utf-8") for p in site.rglob("answers/**/*.js"))
    assert "\\u003cimg src=x onerror=alert(1)" in answers


def test_a_later_build_reads_only_new_bundles_and_gives_the_same_bytes(bundles, site, tmp_path):
    folder = copied(bundles, tmp_path / "bundles", "first.keju.zip")
    first = write_site([folder], tmp_path / "site", title="Small")
    assert (first.read, first.bundles) == (1, 1)
    paths = set(content(tmp_path / "site"))
    copied(bundles, folder, "second.keju.zip")
    both = write_site([folder], tmp_path / "site", title="Small")
    assert (both.read, both.bundles) == (1, 2)
    assert content(tmp_path / "site") == content(site)
    assert paths < set(content(site))
    (folder / "second.keju.zip").unlink()
    assert write_site([folder], tmp_path / "site", title="Small").read == 0
    assert set(content(tmp_path / "site")) == paths


def test_of_closed_data_there_are_hashes_and_scores_only(bundles, tmp_path):
    write_site([bundles / "closed"], tmp_path / "site")
    everything = b"".join(content(tmp_path / "site").values()).decode("utf-8", "replace")
    for text in ("天地玄", "辰宿列", "HYPERLINK", "千字文"):
        assert text not in everything
    (table,) = tmp_path.glob("site/data/bundles/*/scores.parquet")
    scores = pl.read_parquet(table)
    assert scores["value"].null_count() < len(scores)
    assert "extracted" not in scores.columns
    with open_bundle(bundles / "closed" / "closed.keju.zip") as bundle:
        hashes = {item.hash for item in bundle.items()}
    assert hashes
    assert all(each in everything for each in hashes)


def test_of_closed_data_no_reason_of_a_score_is_shown(bundles, tmp_path):
    source = bundles / "closed" / "closed.keju.zip"
    (member, *_) = (name for name in members_of(source) if name.startswith("run/scores/"))

    def quote(content: bytes) -> bytes:
        path = tmp_path / "scores.parquet"
        path.write_bytes(content)
        quoted = [replace(each, reason="not 天地玄黄") for each in read_scores(path)]
        write_scores(path, quoted, read_fingerprint(path))
        return path.read_bytes()

    other = altered(source, tmp_path / "x.keju.zip", member, quote, rehash=True)
    write_site([other], tmp_path / "site")
    everything = b"".join(content(tmp_path / "site").values())
    assert "天地玄黄".encode() not in everything
    (table,) = tmp_path.glob("site/data/bundles/*/scores.parquet")
    assert set(pl.read_parquet(table)["reason"]) == {""}


def test_a_bundle_that_cannot_be_shown_is_named(bundles, tmp_path):
    def rename(content: bytes) -> bytes:
        frame = pl.read_parquet(content)
        path = tmp_path / "items.parquet"
        frame.with_columns(query=pl.lit("<b>")).write_parquet(path)
        return path.read_bytes()

    source = bundles / "all" / "first.keju.zip"
    other = altered(source, tmp_path / "x.keju.zip", "items.parquet", rename, rehash=True)
    with pytest.raises(DataError) as raised:
        write_site([other], tmp_path / "site")
    assert raised.value.file == str(other)


def test_a_bundle_without_items_gives_a_site_without_leaderboards(bundles, tmp_path):
    def empty(content: bytes) -> bytes:
        path = tmp_path / "items.parquet"
        pl.read_parquet(content).clear().write_parquet(path)
        return path.read_bytes()

    source = bundles / "all" / "first.keju.zip"
    other = altered(source, tmp_path / "x.keju.zip", "items.parquet", empty, rehash=True)
    assert write_site([other], tmp_path / "site").boards == 0


def test_an_open_bundle_gives_items_and_answers(site):
    items = "".join(p.read_text("utf-8") for p in site.glob("data/boards/*/items/*.js"))
    answers = "".join(p.read_text("utf-8") for p in site.rglob("answers/**/*.js"))
    assert "日月盈昃\\n辰宿列張" in items
    assert "日月盈昃\\n辰宿列张" in answers


def test_a_paper_s_rows_are_marked_and_have_no_rank_or_interval(site):
    (page,) = (site / "en" / "boards").glob("*.html")
    tree = html.fromstring(page.read_bytes())
    printed = tree.xpath("//tbody[@class='printed']/tr[@data-role='printed']")
    rows = {row.xpath("string(th/a | th/text())"): row for row in printed}
    row = rows["InternVL2.5-78B"]
    column = published_tables("MCS-Bench")["Table 3"].columns["OverAll:mean"]
    printed_mean = column.values["InternVL2.5-78B"]
    assert row.xpath("string(th/small)") == "printed in the paper"
    assert row.xpath("string(td[@data-cell='value-official'])") == percent(printed_mean / 100)
    assert row.xpath("string(td[@data-cell='value-strict'])") == "–"
    assert not row.xpath("td//small")
    assert not row.xpath(".//a")


def test_facts_of_models_are_shown_and_make_filters(bundles, tmp_path):
    folder = copied(bundles, tmp_path / "bundles", "first.keju.zip", "second.keju.zip")
    name = next(iter(_models(bundles)))
    (folder / "models.toml").write_text(
        f'["{name}"]\nvendor = "<b>Vendor</b>"\nsize_b = 7\nurl = "https://example.org/"\n', "utf-8"
    )
    write_site([folder], tmp_path / "site")
    (page,) = (tmp_path / "site/en/boards").glob("*.html")
    tree = html.fromstring(page.read_bytes())
    vendors = tree.xpath("//select[@data-filter='vendor']/option/@value")
    assert "<b>Vendor</b>" in vendors
    assert {row.get("data-vendor") for row in tree.xpath("//tr[@data-role='answers']")} == {
        "", "<b>Vendor</b>"
    }  # fmt: skip


def _models(bundles: Path) -> list[str]:
    with open_bundle(bundles / "all" / "first.keju.zip") as bundle:
        return bundle.models


@pytest.mark.parametrize(
    "text", ['["m"]\nsize_b = -1', '["m"]\nurl = "javascript:alert(1)"', '["m"]\ncolour = "red"']
)
def test_wrong_facts_are_refused(tmp_path, text):
    (tmp_path / "models.toml").write_text(text, "utf-8")
    with pytest.raises(DataError):
        read_model_facts([tmp_path / "models.toml"])


def test_a_statement_is_shown_for_its_bundle_only(bundles, tmp_path):
    folder = copied(bundles, tmp_path / "bundles", "first.keju.zip", "second.keju.zip")
    with open_bundle(folder / "first.keju.zip") as bundle:
        sha256 = bundle.sha256
    statement = {
        "format": "keju-verification-1", "bundle_sha256": sha256, "result": "verified",
        "verified": "2026-11-01T10:00:00Z", "verified_by": "A & B", "keju": "0.2.0",
    }  # fmt: skip
    (folder / "first.json").write_text(json.dumps(statement), "utf-8")
    (folder / "other.json").write_text("[1", "utf-8")
    write_site([folder], tmp_path / "site")
    tree = html.fromstring((tmp_path / "site/en/about.html").read_bytes())
    states = {row.get("id"): row.xpath("string(td[4])") for row in tree.xpath("//tr[@id]")}
    assert "A & B" in states.pop(sha256[:16])
    assert all("2026-11-01" not in state for state in states.values())


def test_other_folders_are_not_overwritten(bundles, tmp_path):
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(UsageError) as refused:
        write_site([bundles / "all"], tmp_path)
    assert refused.value.template.startswith("{} contains files that do not belong")
    with pytest.raises(UsageError) as empty:
        write_site([tmp_path], tmp_path / "site")
    assert empty.value.template.startswith("no bundles found")


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("value", [math.inf, math.nan, -1e308])
def test_a_score_that_is_no_fraction_is_named_and_damages_no_file(bundles, tmp_path, value, count):
    source = bundles / "all" / "first.keju.zip"
    (member, *_) = (name for name in members_of(source) if name.startswith("run/scores/"))

    def change(content: bytes) -> bytes:
        path = tmp_path / "scores.parquet"
        path.write_bytes(content)
        scores = read_scores(path)
        scores = [*(replace(each, value=value) for each in scores[:count]), *scores[count:]]
        write_scores(path, scores, read_fingerprint(path))
        return path.read_bytes()

    other = altered(source, tmp_path / "x.keju.zip", member, change, rehash=True)
    assert {each.member for each in verify_bundle(other).differences} == {member}
    write_site([other], tmp_path / "site")
    for path in tmp_path.glob("site/**/*.json"):
        json.loads(path.read_text("utf-8"), parse_constant=pytest.fail)
    for path in tmp_path.glob("site/data/**/*.js"):
        assert not {"NaN", "Infinity"} & set(re.findall("[A-Za-z]+", path.read_text("utf-8")))
