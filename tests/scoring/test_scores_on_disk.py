"""Long runs are scored with items and scores on disk: the same scores."""

import msgspec
import pytest
from msgspec.structs import replace

from keju.items import Response
from keju.runs import RunFolder, RunManifest
from keju.scoring import aggregate, read_fingerprint, score_models, stored_scores


@pytest.fixture
def run(tmp_path, make) -> RunFolder:
    """Two tasks, two settings and rounds; the responses are in another order than the items."""
    folder = RunFolder(tmp_path / "run")
    made = [
        make(task, answer, text)
        for task, answer, text in (
            ("T1", "天地玄黃", "天地玄"), ("T1", "宇宙洪荒", "宇宙"), ("T6", "意思", "意思"),
            ("T1", "日月盈昃", ""), ("T6", "別的", "不是"),
        )
    ]  # fmt: skip
    items = [replace(item, id=f"i{place}") for place, (item, _) in enumerate(made)]
    folder.write_items(items)
    folder.write_manifest(
        RunManifest(keju="0", dataset="d", dataset_version="1", dataset_hash="h", models={"m": {}})
    )
    for place in (3, 0, 4, 1, 2):
        for setting, round_ in (("own-ocr", 2), ("image", 2), ("image", 1)):
            response: Response = replace(
                made[place][1], item=f"i{place}", model="m", key=f"{place}{setting}{round_}",
                setting=setting, round=round_,
            )  # fmt: skip
            path = folder.responses_path("m", response.task)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as stream:
                stream.write(_line(response))
    return folder


def _line(response: Response) -> bytes:
    return msgspec.json.encode(response) + b"\n"


def _scored(run: RunFolder):
    (summary,) = score_models(run)
    return summary, list(stored_scores(run)), read_fingerprint(run.scores_dir / "m.parquet")


def test_scores_from_disk_are_those_from_memory(run, monkeypatch):
    in_memory = _scored(run)
    assert len({(score.item, score.round, score.setting) for score in in_memory[1]}) == 15
    monkeypatch.setattr("keju.runs.record_list.MOST_IN_MEMORY", 2)
    monkeypatch.setattr("keju.scoring.stored._GROUP_ROWS", 4)
    assert _scored(run) == in_memory


def test_a_summary_is_that_of_the_stored_scores(run):
    summary, scores, _ = _scored(run)
    assert list(summary.results) == aggregate(scores)
    assert sum(each.responses for each in summary.unscored) > 0
