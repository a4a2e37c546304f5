"""PAGE-XML without its images: the import says so, and a run says what is missing and ends so."""

from __future__ import annotations

from tests.support.commanding import keju

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
<Page imageFilename="p1.jpg" imageWidth="100" imageHeight="200"><TextRegion id="r">
<Coords points="0,0 100,0 100,200 0,200"/>
<TextLine id="l"><Coords points="60,0 90,0 90,190 60,190"/>
<TextEquiv><Unicode>天地玄黃宇宙洪荒</Unicode></TextEquiv></TextLine>
</TextRegion></Page></PcGts>
"""


def test_it_is_imported_with_a_note_and_not_run(tmp_path):
    (tmp_path / "xml").mkdir()
    (tmp_path / "xml" / "p1.xml").write_text(PAGE, "utf-8")
    made = keju("data", "import", "page-xml", tmp_path / "xml", "--out", tmp_path / "set")
    assert made.returncode == 0, made.stderr
    assert "image" in made.stderr
    assert "1 item, 0 images" in made.stdout
    done = keju("run", tmp_path / "set", "--model", "ppocr", "--out", tmp_path / "run")
    assert done.returncode == 1
    assert "1: there is no image to transcribe" in " ".join(done.stdout.split())
