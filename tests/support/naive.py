"""Deliberately naive implementations: the textbook, one loop inside another."""

from keju.metrics import EditCounts

SMALL = "天地玄黄"


def matrix(reference, hypothesis):
    rows, columns = len(reference) + 1, len(hypothesis) + 1
    costs = [[0] * columns for _ in range(rows)]
    for i in range(rows):
        costs[i][0] = i
    for j in range(columns):
        costs[0][j] = j
    for i in range(1, rows):
        for j in range(1, columns):
            if reference[i - 1] == hypothesis[j - 1]:
                costs[i][j] = costs[i - 1][j - 1]
            else:
                costs[i][j] = 1 + min(costs[i - 1][j - 1], costs[i - 1][j], costs[i][j - 1])
    return costs


def distance(reference, hypothesis):
    return matrix(reference, hypothesis)[-1][-1]


def official_edits(reference, hypothesis):
    """The authors' back-trace, written out."""
    costs = matrix(reference, hypothesis)
    i, j = len(reference), len(hypothesis)
    matches = substitutions = deletions = insertions = 0
    while i > 0 or j > 0:
        if i and j and reference[i - 1] == hypothesis[j - 1]:
            matches, i, j = matches + 1, i - 1, j - 1
        elif i and j and costs[i][j] == costs[i - 1][j - 1] + 1:
            substitutions, i, j = substitutions + 1, i - 1, j - 1
        elif i and costs[i][j] == costs[i - 1][j] + 1:
            deletions, i = deletions + 1, i - 1
        else:
            insertions, j = insertions + 1, j - 1
    return EditCounts(matches, substitutions, deletions, insertions)


def best_matches(reference, hypothesis):
    """Fewest edits and, with them, most matches, by a matrix of (edits, -matches)."""
    best = [[(j, 0) for j in range(len(hypothesis) + 1)]]
    for i, char in enumerate(reference, start=1):
        row = [(i, 0)]
        for j, other in enumerate(hypothesis, start=1):
            edits, matched = best[-1][j - 1]
            diagonal = (edits, matched - 1) if char == other else (edits + 1, matched)
            up, left = best[-1][j], row[-1]
            row.append(min(diagonal, (up[0] + 1, up[1]), (left[0] + 1, left[1])))
        best.append(row)
    edits, matched = best[-1][-1]
    return edits, -matched


def lcs(left, right):
    lengths = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            same = lengths[i][j] + 1 if a == b else 0
            lengths[i + 1][j + 1] = max(same, lengths[i][j + 1], lengths[i + 1][j])
    return lengths[-1][-1]
