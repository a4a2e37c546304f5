from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.encoders.text import BLOCK_TOKENS, MAX_PADDING, TextEncoder, _padded, plan_batches
from keju.errors import DataError

pytestmark = pytest.mark.semantic


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return TextEncoder(tiny_bert, device="cpu")


def one(batches):
    """All batches of a reading in the order of the rows."""
    found = {at: row for batch in batches for at, row in batch.items()}
    return [found[at] for at in sorted(found)]


def vectors(measure, texts):
    """The vectors of texts, in their order."""
    found = {text: row for batch in measure(texts) for text, row in batch.items()}
    return [found[text] for text in texts]


def states(folder, ids):
    """Every layer's states of one sequence alone, straight from transformers."""
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    with torch.no_grad():
        found = model(input_ids=torch.tensor([ids]), output_hidden_states=True)
    return [layer[0].numpy() for layer in found.hidden_states]


def naive_first_token_mean(folder, encoder, text):
    (row,) = encoder.tokenise([text])
    blocks = [row.ids[at : at + 512] for at in range(0, len(row.ids), 512)]
    return np.mean([states(folder, block)[-1][0] for block in blocks], axis=0)


@pytest.mark.parametrize("length", [0, 1, 7, 510, 511, 512, 1021, 1022, 1023, 1500])
def test_the_first_token_mean_is_that_of_blocks_encoded_alone(tiny_bert, encoder, length):
    text = ("天地玄黃宇宙洪荒日月盈昃" * 200)[:length]
    (found,) = vectors(encoder.first_token_means, [text])
    expected = naive_first_token_mean(tiny_bert, encoder, text)
    assert found == pytest.approx(expected, abs=2e-6)


def test_one_more_character_makes_a_block_of_the_last_token_alone(tiny_bert, encoder):
    text = "天地玄黃宇" * 102
    fits, over = vectors(encoder.first_token_means, [text, text + "天"])
    (row,) = encoder.tokenise([text + "天"])
    assert len(row.ids) == BLOCK_TOKENS + 1
    first, last = states(tiny_bert, row.ids[:512])[-1][0], states(tiny_bert, row.ids[512:])[-1][0]
    assert over == pytest.approx((first + last) / 2, abs=2e-6)
    assert np.abs(over - fits).max() > 0.01


def test_neighbours_in_a_batch_change_nothing(encoder):
    texts = ["天地玄黃", "天地玄", "學而時習之不亦說乎", "寒來暑往秋收冬藏天" * 30, ""]
    together = vectors(encoder.first_token_means, texts)
    for text, found in zip(texts, together, strict=True):
        (alone,) = vectors(encoder.first_token_means, [text])
        assert found == pytest.approx(alone, abs=1e-5)


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_token_vectors_are_those_of_the_layer_asked_for(tiny_bert, encoder, layer):
    rows = encoder.tokenise(["天地玄黃", "學而時習之不亦說乎"])
    for row, found in zip(rows, one(encoder.token_states(rows, layer=layer)), strict=True):
        assert found.numpy() == pytest.approx(states(tiny_bert, row.ids)[layer], abs=2e-6)
    assert encoder.layers == 3


def test_after_a_lower_layer_the_model_is_whole_again(tiny_bert, encoder):
    rows = encoder.tokenise(["天地"])
    one(encoder.token_states(rows, layer=1))
    (found,) = vectors(encoder.first_token_means, ["天地"])
    assert found == pytest.approx(states(tiny_bert, rows[0].ids)[-1][0], abs=2e-6)


def test_texts_are_cut_with_the_last_token_kept(encoder):
    (row,) = encoder.tokenise(["天" * 600], max_tokens=512)
    (whole,) = encoder.tokenise(["天" * 510])
    assert row.ids == whole.ids
    assert len(row.ids) == 512
    assert row.content.sum() == 510


@pytest.mark.parametrize("text", ["", " \n\t", "\u0000\u0007", "\u200b\ufe0f"[:1]])
def test_white_space_and_control_characters_are_no_content(encoder, text):
    (row,) = encoder.tokenise([text])
    assert not row.content.any()
    assert len(row.ids) == 2


def test_a_lone_surrogate_is_read_as_a_question_mark(encoder):
    broken, plain = encoder.tokenise(["天\ud800地", "天?地"])
    assert broken.ids == plain.ids


def test_sentences_are_means_over_all_tokens_at_length_one(tiny_bert, encoder):
    rows = encoder.tokenise(["the bones", "a bone"])
    for row, found in zip(
        rows, vectors(encoder.sentence_vectors, ["the bones", "a bone"]), strict=True
    ):
        mean = states(tiny_bert, row.ids)[-1].mean(axis=0)
        assert found == pytest.approx(mean / np.linalg.norm(mean), abs=2e-6)


def test_a_roberta_word_at_the_start_is_like_one_after_a_space(tiny_roberta):
    encoder = TextEncoder(tiny_roberta, device="cpu")
    start, spaced, empty = encoder.tokenise(["bone", "  bone ", ""])
    assert start.ids == spaced.ids
    assert encoder.max_tokens == 512
    space = json.loads((tiny_roberta / "vocab.json").read_text())["Ġ"]
    assert start.ids[:2] == [0, space]
    assert empty.ids == [0, 2]
    assert not empty.content.any()
    rows = encoder.tokenise(["bone" * 200], max_tokens=512)
    (found,) = one(encoder.token_states(rows, layer=2))
    assert found.numpy() == pytest.approx(states(tiny_roberta, rows[0].ids)[2], abs=2e-6)


def test_texts_are_counted(tiny_bert):
    encoder = TextEncoder(tiny_bert, device="cpu")
    list(encoder.first_token_means(["天地玄黃宇宙洪荒", "天" * 1200, "天地"]))
    assert encoder.encoded == 3


def test_loading_asks_no_network(tiny_bert, tiny_roberta, no_network):
    for folder in (tiny_bert, tiny_roberta):
        assert TextEncoder(folder, device="cpu").size == 24


def test_loading_leaves_the_terminal_alone(tiny_bert, capfd):
    list(TextEncoder(tiny_bert, device="cpu").first_token_means(["天" * 2000]))
    assert capfd.readouterr() == ("", "")


def rewrite(folder, change):
    from safetensors.numpy import load_file, save_file

    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, metadata={"format": "pt"})


@pytest.fixture
def copy(tiny_bert, tmp_path):
    return shutil.copytree(tiny_bert, tmp_path / "copy")


def test_weights_that_lack_a_part_are_refused_instead_of_made_up(copy):
    rewrite(copy, lambda all_: {k: v for k, v in all_.items() if "layer.1.attention" not in k})
    with pytest.raises(DataError, match=r"does not contain 10 of the encoder's weights.*layer\.1"):
        TextEncoder(copy, device="cpu")


def test_weights_of_another_shape_are_refused(copy):
    rewrite(copy, lambda all_: {k: v[:, :8] if v.ndim == 2 else v for k, v in all_.items()})
    with pytest.raises(DataError, match="copy: "):
        TextEncoder(copy, device="cpu")


def test_the_pooler_may_lack_and_old_names_of_norms_are_known(copy, encoder):
    def old(all_):
        names = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        kept = {k: v for k, v in all_.items() if "pooler" not in k}
        for new, before in names.items():
            kept = {
                f"bert.{k}".replace("bert.bert.", "bert.").replace(new, before): v
                for k, v in kept.items()
            }
        return kept

    rewrite(copy, old)
    (found,) = vectors(TextEncoder(copy, device="cpu").first_token_means, ["天地玄黃"])
    (expected,) = vectors(encoder.first_token_means, ["天地玄黃"])
    assert found == pytest.approx(expected, abs=2e-6)


def test_torn_weights_are_refused_in_one_line(copy):
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(DataError, match="cannot be loaded") as caught:
        TextEncoder(copy, device="cpu")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", '{"model_type": "bert", "hidden_size": "x"}'),
        ("config.json", '{"model_type": "bert", "num_hidden_layers": -1}'),
        ("tokenizer_config.json", "{"),
        ("vocab.txt", ""),
    ],
)
def test_a_broken_folder_is_refused_in_one_line(copy, name, content):
    (copy / name).write_text(content)
    with pytest.raises(DataError, match=r"copy\S*: ") as caught:
        TextEncoder(copy, device="cpu")
    assert "\n" not in str(caught.value)


def test_code_in_the_folder_is_never_run(copy):
    config = json.loads((copy / "config.json").read_text())
    config["auto_map"] = {"AutoModel": "evil.Evil", "AutoTokenizer": ["evil.Evil", None]}
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "evil.py").write_text("import pathlib; pathlib.Path('ran').touch(); Evil = None")
    TextEncoder(copy, device="cpu")
    assert not (copy / "ran").exists()


def test_numbers_are_bfloat16_on_a_gpu(tiny_bert):
    import torch

    on_gpu = torch.cuda.is_available()
    assert TextEncoder(tiny_bert).precision == ("bfloat16" if on_gpu else "float32")


def test_ids_are_padded_to_the_longest_text_of_a_batch():
    ids, mask = _padded([[5, 6, 7], [8]], 9)
    assert ids.tolist() == [[5, 6, 7], [8, 9, 9]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]


@given(st.lists(st.integers(1, 512), max_size=80), st.integers(1, 4096))
def test_every_sequence_once_little_padding_and_no_batch_too_large(lengths, max_tokens):
    batches = plan_batches(lengths, max_tokens=max_tokens)
    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    for batch in batches:
        size = max(lengths[at] for at in batch) * len(batch)
        padding = size - sum(lengths[at] for at in batch)
        assert padding <= MAX_PADDING * size
        assert size <= max_tokens or len(batch) == 1


def test_equal_lengths_fill_a_batch_and_the_longest_come_first():
    assert plan_batches([4, 4, 4, 9, 4, 4], max_tokens=16) == [[3], [0, 1, 2, 4], [5]]
