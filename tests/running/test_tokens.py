"""Images and texts are counted as the vendors say, by their own examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.running.tokens import image_rule, image_rules, text_tokens


def tokens(model, width, height):
    rule = image_rule(model)
    assert rule is not None
    return rule.tokens(width, height)


@pytest.mark.parametrize(
    ("model", "width", "height", "expected"),
    [
        # OpenAI's own examples: 1,024 square is four tiles, 2,048 x 4,096 six.
        ("gpt-4o", 1024, 1024, 765),
        ("gpt-4o", 2048, 4096, 1105),
        ("gpt-4o-2024-08-06", 512, 512, 255),
        ("gpt-4o-mini", 512, 512, 8500),
        ("gpt-5", 1024, 1024, 630),
        ("o3", 1024, 1024, 675),
        # 1,024 patches fit; 1,800 x 2,400 is scaled to 33 x 44, which are 2,498 tokens.
        ("gpt-4.1-mini", 1024, 1024, 1659),
        ("o4-mini", 1800, 2400, 2642),
        # Anthropic's table: about 54, 334 and 1,334 tokens.
        ("claude-3-5-sonnet-20241022", 200, 200, 54),
        ("claude-3-5-sonnet-20241022", 1000, 1000, 1334),
        ("anthropic/claude-sonnet-4-5", 3000, 3000, 1600),
        ("claude-3-haiku", 3136, 300, 314),
        # Google's example: 960 x 540 is cut at 360, three by two.
        ("gemini-2.5-pro", 960, 540, 6 * 258),
        ("gemini-2.0-flash", 384, 384, 258),
        ("gemini-1.5-pro", 4000, 4000, 258),
        # Qwen2.5-VL: 28 pixels a token and side; 4 at least, 16,384 at most.
        ("Qwen/Qwen2.5-VL-7B-Instruct", 1036, 644, 37 * 23),
        ("qwen2-vl-72b-instruct", 10, 10, 4),
        # Its own rule rounds the sides to 35 x 35 patches, which are 1,225 tokens.
        ("qwen-vl-max-latest", 4000, 4000, 1280),
        ("Qwen3-VL-8B-Instruct", 1024, 1024, 1024),
        ("llava-v1.5-7b", 50, 2000, 576),
    ],
)
def test_examples(model, width, height, expected):
    assert tokens(model, width, height) == expected


def test_a_model_nobody_described_is_unknown():
    assert image_rule("my-own-model") is None
    assert image_rule("gpt-6") is None


def test_the_narrower_pattern_stands_first():
    for place, rule in enumerate(image_rules()):
        for pattern in rule.models:
            if "*" not in pattern:
                continue
            found = image_rule(pattern.replace("*", "-x"))
            assert found is not None
            assert image_rules().index(found) <= place


@given(
    st.sampled_from([rule.models[0].replace("*", "") for rule in image_rules()]),
    st.integers(1, 9000),
    st.integers(1, 9000),
)
def test_no_image_is_free_or_without_end(model, width, height):
    rule = image_rule(model) or image_rule(model + "-x")
    assert rule is not None
    # Google's tiles grow with the shape without end.
    if not (rule.tiles and rule.tiles.enlarge) or max(width, height) / min(width, height) < 10:
        assert 1 <= rule.tokens(width, height) <= 300_000


@given(st.integers(30, 3000), st.integers(30, 3000))
def test_turning_an_image_changes_nothing(width, height):
    for model in ("gpt-4o", "gpt-4.1-mini", "claude-3-opus", "gemini-2.0-pro", "qwen2.5-vl-7b"):
        assert tokens(model, width, height) == tokens(model, height, width)


def test_text_is_counted_as_stated():
    assert text_tokens("") == 0
    assert text_tokens("天地玄黃") == 4
    assert text_tokens("abcdefgh") == 2
    assert text_tokens("天a") == 2
    assert text_tokens("𠀀") == 1
