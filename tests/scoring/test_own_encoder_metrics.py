"""A metric of a plug-in on the vectors of an encoder, with the encoder's cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import keju
from keju import registry
from keju.encoders import Encoders
from keju.registry import PluginError
from keju.scoring.own_metrics import _collected
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import ScoringSample
from tests.support.small_bert import write_bert

pytestmark = pytest.mark.semantic

TEXTS = ("學而時習之", "日月盈昃", "天地")


@pytest.fixture(autouse=True)
def no_other_plugin():
    """Each test declares its own metrics, and leaves none behind."""
    before = dict(registry._CLAIMS)
    for key in [key for key in before if key[0] == "metrics"]:
        del registry._CLAIMS[key]
    _collected.cache_clear()
    yield
    registry._CLAIMS.clear()
    registry._CLAIMS.update(before)
    _collected.cache_clear()


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    return write_bert(tmp_path_factory.mktemp("weights"))


def declare(function, **about):
    fields = {"name": "Own", "rule": "a rule", "form": "text", "encoder": "minilm"}
    keju.metric(**fields | about)(function)


def scored(make, encoders, *texts, status=None, answer=TEXTS[0]):
    samples = [
        ScoringSample(*make("T6", answer, text, name=f"i{place}", status=status))
        for place, text in enumerate(texts)
    ]
    scores = score_samples(samples, ("strict",), encoders)
    return [score for score in scores if score.metric == "Own"]


def test_the_function_gets_the_vectors_of_reference_and_answer(make, weights):
    given = []

    def own(reference, answer):
        given.append((reference, answer))
        return min(1.0, max(0.0, float(reference @ answer)))

    declare(own, prepare="raw")
    encoders = Encoders({"minilm": weights}, device="cpu")
    found = scored(make, encoders, *TEXTS)
    vectors = encoders.sentence_vectors(TEXTS)
    for text, score, (reference, answer) in zip(TEXTS, found, given, strict=True):
        assert np.array_equal(reference, vectors[TEXTS[0]])
        assert np.array_equal(answer, vectors[text])
        cosine = encoders.sentence_cosine([(text, TEXTS[0])])[0]
        assert score.value == pytest.approx(max(0.0, cosine), abs=1e-5)
        assert "|text:raw>vectors" in score.signature
        assert "|encoder:minilm|" in score.signature
        assert "|by:test_own_encoder_metrics.py (sha256 " in score.signature


def test_a_text_is_encoded_once_and_never_again_with_the_same_cache(make, weights, tmp_path):
    declare(lambda reference, answer: 1.0)
    for expected in (3, 0):
        encoders = Encoders({"minilm": weights}, tmp_path / "cache", device="cpu")
        scored(make, encoders, *TEXTS, *TEXTS)
        assert encoders.encoder("minilm").encoded == expected
        encoders.close()


@pytest.mark.parametrize(("text", "status"), [("", None), ("天地", "failed")])
def test_no_answer_is_worth_the_worst_value(make, weights, text, status):
    declare(lambda reference, answer: 0.0, higher_is_better=False, highest=2.0)
    encoders = Encoders({"minilm": weights}, device="cpu")
    (score,) = scored(make, encoders, text, status=status)
    assert score.value == 2.0


def test_without_the_weights_it_is_unscored_and_says_how_to_get_them(make):
    declare(lambda reference, answer: 1.0, encoder="roberta-large")
    (score,) = scored(make, Encoders({}), "天地")
    assert score.value is None
    assert "--semantic roberta-large=DIR" in score.reason


def test_an_exception_is_the_reason_of_one_item(make, weights):
    def own(reference, answer):
        if np.array_equal(reference, answer):
            raise ValueError("equal")
        return 0.5

    declare(own)
    found = scored(make, Encoders({"minilm": weights}, device="cpu"), *TEXTS)
    assert [score.value for score in found] == [None, 0.5, 0.5]
    assert found[0].reason.startswith("Own of test_own_encoder_metrics.py (sha256 ")
    assert found[0].reason.endswith("ValueError: equal")


def test_a_value_out_of_range_stops_the_scoring(make, weights):
    declare(lambda reference, answer: 7.0)
    with pytest.raises(PluginError, match=r"Own of .* returned 7\.0\. Return a finite number"):
        scored(make, Encoders({"minilm": weights}, device="cpu"), "天地")


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ({"encoder": "word2vec"}, "encoder is 'word2vec'. Use one of .*minilm"),
        ({"form": "number"}, "encoder is for the forms transcription, text"),
        ({"pooled": True}, "not with pooled"),
    ],
)
def test_a_declaration_that_has_no_meaning_is_refused(about, says):
    with pytest.raises(ValueError, match=says):
        declare(lambda reference, answer: 0.0, **about)


def test_a_file_has_one_signature_imported_or_named_as_a_plugin(tmp_path, run_metrics):
    (tmp_path / "mine.py").write_text(
        "import keju\n\n\n@keju.metric(name='Own', form='text', rule='a rule')\n"
        "def own(reference, answer):\n    return 1.0\n",
        "utf-8",
    )
    imported = run_metrics(tmp_path, "import mine")
    named = run_metrics(tmp_path, "", KEJU_PLUGINS=str(tmp_path / "mine.py"))
    assert imported == named
    assert "|by:mine.py (sha256 " in imported


@pytest.fixture
def run_metrics():
    """The signature of the metric ``Own`` in a process of its own, after some code."""
    import os
    import subprocess
    import sys

    def signature(folder, code, **environment):
        program = (
            f"{code}\nfrom keju.scoring import metric_of, metric_signature\n"
            "print(metric_signature(metric_of('strict', 'MCS-Bench', 'text', 'Own')))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=folder, env=os.environ | environment,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    return signature
