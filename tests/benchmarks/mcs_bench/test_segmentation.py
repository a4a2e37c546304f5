"""Words are jieba's; its parsed dictionary is never read from a folder that others can write to."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import jieba
import pytest

from keju.benchmarks.mcs_bench.script import words

_CUT = """
import json, sys
import jieba
from keju.benchmarks.mcs_bench.script import words
cut = words("孔子说：学习并且按时温习")
print(json.dumps([cut, jieba.dt.tmp_dir]))
"""


@pytest.mark.parametrize("text", ["", "天地玄黃宇宙洪荒", "ABC123.5%的 x-y_z\r\n子曰 第3卷"])
def test_the_words_are_those_of_jieba(text):
    assert words(text) == jieba.lcut(text)


@pytest.mark.parametrize("writable", [True, False])
def test_the_dictionary_is_not_read_from_the_shared_temporary_folder(tmp_path, writable):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "jieba.cache").write_bytes(b"not a dictionary")
    cache = tmp_path / "cache"
    if not writable:
        cache.write_text("a file where the folder should be")
    environment = {**os.environ, "TMPDIR": str(shared), "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", _CUT], env=environment, capture_output=True, text=True, check=True
    )
    cut, folder = json.loads(done.stdout)
    assert cut == ["孔子", "说", "：", "学习", "并且", "按时", "温习"]
    assert folder == (str(cache / "keju") if writable else os.devnull)
    assert not done.stderr
    assert (shared / "jieba.cache").read_bytes() == b"not a dictionary"
