"""Edit distance, and its substitutions, deletions and insertions."""

from __future__ import annotations

from typing import NamedTuple

from rapidfuzz.distance import Levenshtein


class EditCounts(NamedTuple):
    """How a reference becomes a hypothesis, in characters."""

    matches: int
    substitutions: int
    deletions: int
    insertions: int

    @property
    def distance(self) -> int:
        """Substitutions, deletions and insertions together."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def expected(self) -> int:
        """Length of the reference."""
        return self.matches + self.substitutions + self.deletions

    @property
    def predicted(self) -> int:
        """Length of the hypothesis."""
        return self.matches + self.substitutions + self.insertions


def distance(reference: str, hypothesis: str) -> int:
    """Levenshtein distance: the fewest substitutions, deletions and insertions."""
    return Levenshtein.distance(reference, hypothesis)


def best_edits(reference: str, hypothesis: str) -> EditCounts:
    """The counts of an alignment with the fewest edits and, of these, the most matches.

    The distance alone does not fix the split: 学而 against 而时 is two substitutions, or a
    deletion and an insertion around one match. The second reading is ours.
    """
    # With edits worth `unit` and a substitution one more, the cheapest path has the fewest edits,
    # and of these the fewest substitutions, which is the most matches.
    unit = min(len(reference), len(hypothesis)) + 2
    cost = Levenshtein.distance(reference, hypothesis, weights=(unit, unit, unit + 1))
    edits, substitutions = divmod(cost, unit)
    matches = (len(reference) + len(hypothesis) - edits - substitutions) // 2
    return EditCounts(
        matches,
        substitutions,
        len(reference) - matches - substitutions,
        len(hypothesis) - matches - substitutions,
    )
