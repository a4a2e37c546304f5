"""Write a vision-language model of random numbers, or answer prompts with it in this process.

python tiny_llava.py write FOLDER
python tiny_llava.py answer FOLDER REQUESTS TOKENS

REQUESTS has a JSON line ``[item, text, [image file, ...]]`` for each request. Runs in the
environment of the contract, which has transformers and torch.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import transformers as t
from PIL import Image
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

SIDE, PATCH = 32, 8
SIGNS = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏，。"
SPECIAL = ["<unk>", "<s>", "</s>", "<image>"]
TEMPLATE = (
    "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for c in m.content %}{% if c.type == 'text' %}{{ c.text }}{% else %}<image>{% endif %}"
    "{% endfor %}{% endif %}\n{% endfor %}"
)


def tokenizer() -> t.PreTrainedTokenizerFast:
    """A token for each sign, and for each printable sign of ASCII."""
    ascii_signs = [chr(number) for number in range(32, 127)]
    words = [*SPECIAL, "\n", *ascii_signs, *SIGNS]
    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, "<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    made.decoder = decoders.Fuse()
    made.add_special_tokens(SPECIAL)
    return t.PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", bos_token="<s>", eos_token="</s>",
        pad_token="</s>", extra_special_tokens={"image_token": "<image>"},
    )  # fmt: skip


def write(folder: Path) -> None:
    """A LLaVA of two vision blocks and one text block."""
    torch.manual_seed(16)
    signs = tokenizer()
    vision = t.CLIPVisionConfig(
        hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        image_size=SIDE, patch_size=PATCH,
    )  # fmt: skip
    text = t.LlamaConfig(
        vocab_size=len(signs), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=2048,
        bos_token_id=1, eos_token_id=2, pad_token_id=2,
    )  # fmt: skip
    config = t.LlavaConfig(
        vision_config=vision, text_config=text, image_token_index=signs.image_token_id,
        vision_feature_layer=-1,
    )  # fmt: skip
    model = t.LlavaForConditionalGeneration(config)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.normal_(std=0.4)
        model.lm_head.weight[: len(signs) - len(SIGNS)] *= 0.01
    images = t.CLIPImageProcessorPil(
        size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
    )
    processor = t.LlavaProcessor(
        images, signs, patch_size=PATCH, vision_feature_select_strategy="default",
        chat_template=TEMPLATE, image_token="<image>", num_additional_image_tokens=1,
    )  # fmt: skip
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


def answer(folder: Path, requests: Path, tokens: int) -> None:
    """Print item, text, and tokens in and out of each request, a JSON line each."""
    processor = t.AutoProcessor.from_pretrained(folder)
    model = t.AutoModelForImageTextToText.from_pretrained(folder)
    for line in requests.read_text("utf-8").splitlines():
        item, text, files = json.loads(line)
        parts = [{"type": "image", "image": Image.open(file)} for file in files]
        messages = [{"role": "user", "content": [*parts, {"type": "text", "text": text}]}]
        given = processor.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=True, return_dict=True,
            return_tensors="pt",
        )  # fmt: skip
        length = given["input_ids"].shape[1]
        made = model.generate(**given, max_new_tokens=tokens, do_sample=False)[0, length:]
        said = processor.decode(made, skip_special_tokens=True)
        print(json.dumps([item, said, length, len(made)]))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]))
    else:
        answer(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
