"""Responses of a file: repeated values are shared."""

import msgspec

from keju.items import Response, Usage
from keju.runs import read_responses


def _response(item, text, round_=1):
    return Response(
        key=f"{item}{round_}", item=item, model="a model", benchmark="b", task="t",
        status="answered", text=text, round=round_, usage=Usage(input_tokens=7),
    )  # fmt: skip


def _write(path, responses):
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in responses))


def test_repeated_values_are_in_memory_once(tmp_path):
    path = tmp_path / "t.jsonl"
    _write(path, [_response("i1", "天"), _response("i2", "地")])
    one, two = read_responses(path)
    assert one.model is two.model
    assert one.usage is two.usage
    assert one.item != two.item
