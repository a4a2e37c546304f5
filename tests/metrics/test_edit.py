"""Edit distance and its split, against the textbook."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import EditCounts, best_edits, distance
from tests.support import naive

SHORT = st.text(alphabet="天地玄黄", max_size=14)
ANY = st.text(max_size=20)


@given(SHORT | ANY, SHORT | ANY)
def test_distance_is_the_textbooks(reference, hypothesis):
    assert distance(reference, hypothesis) == naive.distance(reference, hypothesis)


@given(SHORT | ANY, SHORT | ANY)
def test_best_split_has_fewest_edits_and_then_most_matches(reference, hypothesis):
    counts = best_edits(reference, hypothesis)
    assert (counts.distance, counts.matches) == naive.best_matches(reference, hypothesis)
    assert counts.expected == len(reference)
    assert counts.predicted == len(hypothesis)
    assert min(counts) >= 0


@pytest.mark.parametrize(
    ("reference", "hypothesis", "best"),
    [
        ("学而", "而时", (1, 0, 1, 1)),
        ("", "", (0, 0, 0, 0)),
        ("", "天", (0, 0, 0, 1)),
        ("天", "", (0, 0, 1, 0)),
        ("天地", "天地", (2, 0, 0, 0)),
        ("𠀀𠀁", "𠀁", (1, 0, 1, 0)),
    ],
)
def test_splits_by_hand(reference, hypothesis, best):
    assert best_edits(reference, hypothesis) == EditCounts(*best)


def test_an_error_rate_imports_no_numpy():
    code = "import sys, keju; keju.cer; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
