from __future__ import annotations

import logging
import signal
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from keju.encoders import default_cache_path
from keju.encoders.cache import VectorCache, text_key
from tests.support.children import started


def vector(*numbers):
    return np.array(numbers, dtype=np.float32)


def test_what_is_put_is_there_in_another_process(tmp_path):
    path = tmp_path / "new" / "cache.sqlite"
    key = text_key("weights:first", "天地")
    with closing(VectorCache(path)) as cache:
        cache.put_vectors({key: vector(0.1, 0.2)})
    with closing(VectorCache(path)) as cache:
        assert cache.vectors([key, b"other"], size=2)[key].tolist() == vector(0.1, 0.2).tolist()


def test_numbers_come_back_to_the_last_bit(tmp_path):
    value = np.array([1 / 3, 2 / 7, 1e-300])
    with closing(VectorCache(tmp_path / "c.sqlite")) as cache:
        cache.put_vectors({b"k": value})
        assert cache.vectors([b"k"], size=3, dtype=np.float64)[b"k"].tolist() == value.tolist()


def test_many_keys_are_found_at_once():
    cache = VectorCache(None)
    cache.put_vectors({text_key("s", str(at)): vector(at) for at in range(1700)})
    found = cache.vectors([text_key("s", str(at)) for at in range(1800)], size=1)
    assert [found[text_key("s", str(at))][0] for at in range(1700)] == list(range(1700))
    assert len(found) == 1700


def test_a_value_of_another_size_is_not_taken():
    cache = VectorCache(None)
    cache.put_vectors({b"k": vector(1, 2)})
    assert cache.vectors([b"k"], size=3) == {}


def test_keys_tell_spaces_texts_and_sides_apart():
    keys = {
        text_key("a", "天", "地"),
        text_key("a", "地", "天"),
        text_key("a", "天地"),
        text_key("a", "", "天地"),
        text_key("b", "天地"),
        text_key("a", "\ud800"),
        text_key("a", "?"),
    }
    assert len(keys) == 7


def test_the_file_holds_no_text(tmp_path):
    path = tmp_path / "c.sqlite"
    with closing(VectorCache(path)) as cache:
        cache.put_vectors({text_key("space", "a secret answer"): vector(1)})
    assert b"secret" not in path.read_bytes()


def test_two_caches_share_a_file(tmp_path):
    path = tmp_path / "c.sqlite"
    with closing(VectorCache(path)) as one, closing(VectorCache(path)) as two:
        one.put_vectors({b"a": vector(1)})
        two.put_vectors({b"a": vector(1), b"b": vector(2)})
        assert set(one.vectors([b"a", b"b"], size=1)) == {b"a", b"b"}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_a_killed_process_leaves_what_it_had_put(tmp_path):
    path = tmp_path / "c.sqlite"
    program = textwrap.dedent(f"""
        import sys, numpy as np
        from pathlib import Path
        from keju.encoders.cache import VectorCache
        cache = VectorCache(Path({str(path)!r}))
        for at in range(10**6):
            cache.put_vectors({{at.to_bytes(4, "big"): np.array([at], dtype=np.float32)}})
            print(at, flush=True)
    """)
    process = started([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    seen = [int(process.stdout.readline()) for _ in range(30)]
    process.kill()
    process.communicate()
    with closing(VectorCache(path)) as cache:
        found = cache.vectors([at.to_bytes(4, "big") for at in seen], size=1)
        assert len(found) == 30
        cache.put_vectors({b"after": vector(1)})
        assert cache.path == path


def test_a_file_that_is_no_database_is_left_alone(tmp_path, caplog):
    path = tmp_path / "c.sqlite"
    path.write_bytes(content := b"not a database, but long enough to look like one" * 20)
    with closing(VectorCache(path)) as cache, caplog.at_level(logging.WARNING):
        cache.put_vectors({b"a": vector(1)})
        assert b"a" in cache.vectors([b"a"], size=1)
    assert "can't be used" in caplog.text
    assert path.read_bytes() == content


def test_where_nothing_can_be_written_it_goes_on_in_memory(tmp_path, caplog):
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder should be")
    with closing(VectorCache(blocked / "c.sqlite")) as cache, caplog.at_level(logging.WARNING):
        cache.put_vectors({b"a": vector(1)})
        assert b"a" in cache.vectors([b"a"], size=1)
    assert "can't be used" in caplog.text


def test_the_users_cache_folder_is_where_xdg_says(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_path() == tmp_path / "keju" / "encoders-1.sqlite"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert default_cache_path() == Path.home() / ".cache" / "keju" / "encoders-1.sqlite"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache_path().is_relative_to(Path.home())
