from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.encoders import ENCODERS, Encoders
from keju.encoders import encoders as encoders_module
from keju.encoders.encoders import reference_pairs
from keju.encoders.weights import weights_hash
from keju.errors import PrerequisiteError, UsageError
from keju.metrics.base import PRF
from keju.text import official_convert

BERT = "bert-base-chinese"
WWM = "chinese-bert-wwm"


@pytest.fixture
def encoders(tiny_bert):
    with_torch = Encoders(dict.fromkeys(ENCODERS, tiny_bert), device="cpu")
    yield with_torch
    with_torch.close()


def golden(shared, name):
    return json.loads((shared / "golden" / f"{name}_public.json").read_text(encoding="utf-8"))


def test_without_the_packages_the_reason_says_how_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(encoders_module, "packages_missing", lambda: "torch")
    encoders = Encoders({WWM: tmp_path})
    for name in ENCODERS:
        assert encoders.unavailable_reason(name).startswith(
            'needs the package torch: pip install "keju[semantic]"'
        )
    with pytest.raises(PrerequisiteError, match="pip install"):
        encoders.first_token_cosine([("天", "地")])


def test_without_weights_the_reason_says_where_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setattr(encoders_module, "packages_missing", lambda: "")
    monkeypatch.setattr(encoders_module, "bundled_minilm", lambda: None)
    encoders = Encoders({WWM: tmp_path})
    assert encoders.unavailable_reason(WWM) == ""
    assert "--semantic roberta-large=DIR" in encoders.unavailable_reason("roberta-large")
    assert "FacebookAI/roberta-large" in encoders.unavailable_reason("roberta-large")
    assert 'pip install "keju[semantic]"' in encoders.unavailable_reason("minilm")
    with pytest.raises(PrerequisiteError, match="--semantic bert-base-chinese=DIR"):
        encoders.bert_score(BERT, [("天", "地")])
    with pytest.raises(UsageError, match="no encoder 'gpt'"):
        encoders.unavailable_reason("gpt")


def test_references_are_paired_with_others_whatever_their_order():
    references = ["天地", "玄黃", "宇宙", "洪荒", "天地", " "]
    pairs = reference_pairs(references)
    assert pairs == reference_pairs(references[::-1])
    assert all(a != b and a.strip() and b.strip() for a, b in pairs)
    assert {a for a, _ in pairs} == {"天地", "玄黃", "宇宙", "洪荒"}
    assert reference_pairs(["天地", "天地", ""]) == []


@given(st.integers(0, 60), st.integers(1, 90))
def test_no_reference_is_its_own_other_and_all_are_used_alike(count, at_least):
    references = [str(number) for number in range(count)]
    pairs = reference_pairs(references, at_least=at_least)
    assert all(a != b for a, b in pairs)
    assert len(set(pairs)) == len(pairs)
    for side in (0, 1):
        uses = [sum(pair[side] == text for pair in pairs) for text in references]
        assert len(set(uses)) <= 1
    if count > 1:
        assert len(pairs) >= min(at_least, count * (count - 1) // 2)


@pytest.mark.semantic
class TestGolden:
    def test_official_mcs_bench_values_are_the_scripts(self, shared):
        data = golden(shared, "mcs")
        items = [
            item
            for part in ("public", "edge", "probes")
            for item in data[part]["items"]
            if "BERTScore" in item["official"]
        ]
        encoders = Encoders({WWM: shared / "golden" / "tinybert"}, device="cpu")
        found = encoders.first_token_cosine(
            [(official_convert(item["Response"]), item["Answer_Simplified"]) for item in items]
        )
        assert len(items) > 360
        assert found == pytest.approx(
            [item["official"]["BERTScore"] for item in items], abs=1e-6, rel=0
        )

    def test_ancientdoc_values_are_those_of_bert_score(self, shared):
        items = [item for item in golden(shared, "ancientdoc")["text"] if "bs_f1" in item]
        encoders = Encoders({BERT: shared / "golden" / "tinybert"}, device="cpu")
        found = encoders.bert_score(
            BERT, [(item["prediction"], item["reference"]) for item in items]
        )
        assert len(items) > 90
        for side, key in (("precision", "bs_p"), ("recall", "bs_r"), ("f1", "bs_f1")):
            values = [getattr(score, side) for score in found]
            assert values == pytest.approx([item[key] for item in items], abs=1e-5, rel=0)
        assert "layer2" in encoders.signature(BERT)

    def test_obi_bench_values_are_those_of_minilm(self, shared):
        items = golden(shared, "obi")["what"]
        encoders = Encoders({}, device="cpu")
        pairs = [(item["prediction"], item["reference"]) for item in items]
        expected = [item["cosine"] for item in items]
        assert encoders.sentence_cosine(pairs) == pytest.approx(expected, abs=1e-5, rel=0)
        strict = encoders.sentence_cosine(pairs, empty=0.0)
        for (candidate, _), value, official in zip(pairs, strict, expected, strict=True):
            assert value == (pytest.approx(official, abs=1e-5) if candidate else 0.0)


@pytest.mark.semantic
def test_minilm_of_its_package_gives_the_documented_numbers(no_network):
    encoder = Encoders({}, device="cpu").encoder("minilm")
    ((vector,),) = (
        batch.values() for batch in encoder.sentence_vectors(["This is an example sentence"])
    )
    assert vector.shape == (384,)
    assert vector[:5] == pytest.approx([0.067657, 0.063496, 0.048713, 0.079305, 0.037448], abs=1e-6)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.semantic
def test_a_text_against_itself_is_one(encoders):
    pairs = [("天地玄黃", "天地玄黃")]
    assert encoders.first_token_cosine(pairs) == pytest.approx([1.0])
    assert encoders.sentence_cosine(pairs) == pytest.approx([1.0])
    assert encoders.bert_score(BERT, pairs)[0] == pytest.approx((1.0, 1.0, 1.0))


@pytest.mark.semantic
def test_an_empty_text_has_an_official_value_and_no_strict_one(encoders):
    pairs = [("", "天地玄黃"), (" \n", "天地玄黃"), ("天地玄黃", ""), ("", "")]
    assert all(value != 0 for value in encoders.first_token_cosine(pairs))
    assert encoders.sentence_cosine(pairs, empty=0.0) == [0.0] * 4
    assert encoders.bert_score(BERT, pairs) == [PRF(0.0, 0.0, 0.0)] * 4


@pytest.mark.semantic
def test_no_pairs_are_no_work(encoders):
    assert encoders.first_token_cosine([]) == []
    assert encoders.sentence_cosine([], empty=0.0) == []
    assert encoders.bert_score(BERT, []) == []


@pytest.mark.semantic
def test_precision_and_recall_change_places_with_the_texts(encoders):
    one, other = encoders.bert_score(BERT, [("天地", "天地玄黃宇宙"), ("天地玄黃宇宙", "天地")])
    assert one.precision == pytest.approx(other.recall)
    assert one.recall == pytest.approx(other.precision)
    assert one.precision > one.recall


REFERENCES = ["天地玄黃宇宙洪荒", "日月盈昃辰宿列張", "寒來暑往秋收冬藏"]


def answers_of(models):
    return [
        (reference[: 1 + model % 7] + "學而時習之不亦說乎"[model % 9 :] + "之" * model, reference)
        for model in range(models)
        for reference in REFERENCES
    ]


READINGS = {
    "first": lambda encoders, pairs: encoders.first_token_cosine(pairs),
    "sentence": lambda encoders, pairs: encoders.sentence_cosine(pairs),
    "match": lambda encoders, pairs: encoders.bert_score(BERT, pairs),
}


@pytest.mark.semantic
@pytest.mark.parametrize("reading", READINGS)
class TestEncodedOnce:
    def test_every_unique_text_once_however_often_it_comes(self, encoders, reading):
        pairs = [("天地", "玄黃"), ("宇宙", "玄黃"), ("天地", "洪荒"), ("天地", "玄黃")]
        READINGS[reading](encoders, pairs)
        assert encoders.encoder(BERT).encoded == 4

    def test_models_asked_one_by_one_share_their_references(self, encoders, reading):
        pairs = answers_of(9)
        for start in range(0, len(pairs), 3):
            READINGS[reading](encoders, pairs[start : start + 3])
        assert encoders.encoder(BERT).encoded == len({text for pair in pairs for text in pair})

    def test_a_later_process_encodes_only_what_is_new(self, tiny_bert, tmp_path, reading):
        paths = dict.fromkeys(ENCODERS, tiny_bert)
        pairs = answers_of(3)
        values, texts = [], []
        for asked in (pairs, pairs, [("學而", reference) for reference in REFERENCES]):
            encoders = Encoders(paths, tmp_path / "cache.sqlite", device="cpu")
            values.append(READINGS[reading](encoders, asked))
            texts.append(encoders.encoder(BERT).encoded)
            encoders.close()
        assert texts[1:] == [0, 1 + len(REFERENCES) if reading == "match" else 1]
        assert values[0] == values[1]

    def test_the_order_of_the_pairs_changes_nothing(self, encoders, tiny_bert, reading):
        pairs = answers_of(5)
        forward = READINGS[reading](encoders, pairs)
        other = Encoders(dict.fromkeys(ENCODERS, tiny_bert), device="cpu")
        backward = READINGS[reading](other, pairs[::-1])
        assert np.array(backward[::-1]) == pytest.approx(np.array(forward), abs=1e-6)

    def test_other_weights_have_values_of_their_own(self, tiny_bert, shared, tmp_path, reading):
        cache = tmp_path / "cache.sqlite"
        pairs = answers_of(1)
        found = []
        for folder in (tiny_bert, shared / "golden" / "tinybert"):
            encoders = Encoders(dict.fromkeys(ENCODERS, folder), cache, device="cpu")
            found.append(np.array(READINGS[reading](encoders, pairs)))
            encoders.close()
        assert np.abs(found[0] - found[1]).max() > 1e-4


@pytest.mark.semantic
def test_windows_and_chunks_change_nothing(encoders, tiny_bert, monkeypatch):
    pairs = answers_of(6)
    whole = [READINGS[reading](encoders, pairs) for reading in READINGS]
    monkeypatch.setitem(encoders_module._WINDOW_PAIRS, "cpu", 2)
    monkeypatch.setattr(encoders_module, "_PAIRS_AT_ONCE", 4)
    small = Encoders(dict.fromkeys(ENCODERS, tiny_bert), device="cpu")
    for reading, expected in zip(READINGS, whole, strict=True):
        before = small.encoder(BERT).encoded
        assert np.array(READINGS[reading](small, pairs)) == pytest.approx(
            np.array(expected), abs=1e-6
        )
        assert small.encoder(BERT).encoded - before == len({t for pair in pairs for t in pair})


@pytest.mark.semantic
def test_the_floor_is_what_another_items_reference_earns(encoders):
    pairs = reference_pairs(REFERENCES)
    expected = np.mean([score.f1 for score in encoders.bert_score(BERT, pairs)])
    floor = encoders.bert_score_floor(BERT, REFERENCES)
    assert floor == pytest.approx(expected)
    assert floor == encoders.bert_score_floor(BERT, [*REFERENCES[::-1], REFERENCES[0]])
    assert 0 < floor < 1
    assert encoders.bert_score_floor(BERT, REFERENCES[:1]) is None
    assert -1 < encoders.sentence_floor(REFERENCES) < 1
    assert encoders.sentence_floor([]) is None


@pytest.mark.semantic
def test_the_layer_is_bert_scores_or_the_last(encoders):
    assert encoders.layer_of(BERT) == 3


@pytest.mark.semantic
def test_the_signature_names_weights_precision_and_layer(encoders, tiny_bert):
    digest = weights_hash(tiny_bert.resolve())[:16]
    assert encoders.signature(BERT).startswith(f"{BERT}|{digest}|float32|layer3|transformers")
    assert "layer" not in encoders.signature(WWM)


def test_published_baselines_belong_to_their_layers():
    assert ENCODERS[BERT].layer == 8
    assert ENCODERS[BERT].baseline.f1 == pytest.approx(0.5476, abs=1e-4)
    assert ENCODERS["roberta-large"].layer == 17
    assert ENCODERS["roberta-large"].baseline.f1 == pytest.approx(0.8312, abs=1e-4)
    assert ENCODERS["minilm"].baseline is None
