"""A report whose scores and chunks are read from disk in parts is the same file."""

from keju.reporting.page import write_report


def test_the_page_is_the_same(scored_run, tmp_path, monkeypatch):
    monkeypatch.setattr("keju.reporting.item_browser.PER_CHUNK", 1)
    write_report([scored_run], tmp_path / "memory.html", title="t", picture_bytes=0)
    monkeypatch.setattr("keju.reporting.item_browser._CHUNKS_IN_MEMORY", 0)
    monkeypatch.setattr("keju.analysis.page_texts._ITEMS_IN_MEMORY", 0)
    monkeypatch.setattr("keju.analysis.reading_errors._PAIRS_IN_MEMORY", 0)
    monkeypatch.setattr("keju.runs.record_list.MOST_IN_MEMORY", 0)
    write_report([scored_run], tmp_path / "disk.html", title="t", picture_bytes=0)
    page = (tmp_path / "disk.html").read_bytes()
    assert page == (tmp_path / "memory.html").read_bytes()
    assert page.count(b'id="chunk-') > 1
