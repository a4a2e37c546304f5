"""OBI-Bench (oracle-bone recognition, rejoining, classification, retrieval, deciphering)."""

from pathlib import Path

from keju.texts import add_translations

POSITION = 3

_READERS = "keju.benchmarks.obi_bench.readers"

PROVIDES: dict[str, dict[str, str]] = {
    "metrics": {"obi_bench": "keju.benchmarks.obi_bench.metrics"},
    "readers": {
        "obi-recognition": f"{_READERS}.recognition:READER",
        "obi-rejoining": f"{_READERS}.rejoining:READER",
        "obi-classification": f"{_READERS}.characters:CLASSIFICATION",
        "obi-retrieval": f"{_READERS}.characters:RETRIEVAL",
        "obi-deciphering": f"{_READERS}.characters:DECIPHERING",
    },
}

add_translations(Path(__file__).with_name("obi-bench.mo"))
