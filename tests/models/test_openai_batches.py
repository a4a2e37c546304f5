"""Results of batches: of any size in bounded memory, damaged lines, and files that are too long."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from keju.models import AskError, ModelOptions, open_model
from keju.models.openai_batches import Batch, BatchResults

_LINE = 1 << 20
_READER = """
import asyncio, resource, sys
from pathlib import Path
from tempfile import TemporaryFile
from keju.models import ModelOptions, open_model
from keju.models.openai_batches import Batch

async def main(url, lines, folder):
    model = open_model("openai:m", ModelOptions(base_url=url))
    server = model.batches()
    batch = Batch("b", output_file_id=lines, error_file_id=lines and "1")
    results = await server.results(batch, model.parameters, Path(folder))
    await model.close()
    print(len(results), sum(len(results[name].text) for name in results))
    results.close()

asyncio.run(main("http://127.0.0.1:1/v1", "", sys.argv[3]))  # what is loaded by the first use
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
asyncio.run(main(*sys.argv[1:]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


class _Files(BaseHTTPRequestHandler):
    """Answers ``GET /files/NAME/content`` with NAME lines of a megabyte each."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        count = int(self.path.split("/")[-2])
        for number in range(count):
            choice = {"message": {"content": "字" * (_LINE // 3)}}
            body = {"status_code": 200, "body": {"choices": [choice]}}
            line = {"custom_id": f"{count}-{number}", "response": body}
            self.wfile.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _Files)
    thread = threading.Thread(target=serving.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{serving.server_address[1]}"
    serving.shutdown()
    thread.join()
    serving.server_close()


def test_results_larger_than_memory_are_read_line_by_line(server: str, tmp_path: Path):
    count = 200
    done = subprocess.run(
        [sys.executable, "-c", _READER, server, str(count), str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *_, found, grown = done.stdout.splitlines()
    assert found == f"{count + 1} {(count + 1) * (_LINE // 3)}"
    assert int(grown) << 10 < count * _LINE // 5
    assert list(tmp_path.iterdir()) == []


def results(tmp_path: Path, *lines: bytes) -> BatchResults:
    model = open_model("openai:m", ModelOptions(base_url="http://127.0.0.1:1/v1"))
    found = BatchResults(model.batches(), Batch("b"), model.parameters, tmp_path)
    found.file.write(b"".join(lines))
    found.find_places()
    return found


def test_the_last_line_of_a_request_counts_and_a_damaged_one_is_its_failure(tmp_path: Path):
    stored = results(
        tmp_path,
        b'{"custom_id": "a", "error": {"message": "1"}}\n\n{"custom_id": "b", "resp',
        b'onse": {"body": {"cut\n{"custom_id": "a", "error": {"message": "2"}}',
    )
    assert list(stored) == ["a", "b"]
    assert str(stored["a"]) == "2"
    assert "a result of batch b" in str(stored["b"])


def test_a_line_that_names_no_request_is_an_error(tmp_path: Path):
    with pytest.raises(AskError, match="a result of batch b"):
        results(tmp_path, b'{"custom": "a"}\n')
