"""Claims of the papers' texts as data, each decided by the printed tables.

A claim is made of statements, which are true or false of printed cells, and these of quantities.
The head of a shipped ``claims.toml`` shows how each is written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec

from keju.errors import DataError
from keju.files import read_toml
from keju.items import Record
from keju.published.checks.grids import on_grid
from keju.published.checks.marks import places
from keju.published.models import PublishedModel, published_model
from keju.published.papers import paper_file
from keju.published.printed_tables import PrintedTables
from keju.published.tables import EPSILON, Column
from keju.statistics import kendall, pearson, spearman

Verdict = Literal["holds", "holds with a qualification", "does not hold", "cannot be checked"]

Sense = Literal["above", "at least", "below", "at most", "equal to"]
_COMPARE: dict[Sense, Callable[[float, float], bool]] = {
    "above": operator.gt,
    "at least": operator.ge,
    "below": operator.lt,
    "at most": operator.le,
    "equal to": operator.eq,
}
_METHODS = {"spearman": spearman, "pearson": pearson, "kendall": kendall}

_EVALUATED = ("@evaluated",)
_GROUPS: dict[str, Callable[[PublishedModel], bool]] = {
    "@evaluated": lambda model: model.role == "evaluated",
    "@closed": lambda model: model.role == "evaluated" and model.kind == "closed-mllm",
    "@open": lambda model: model.role == "evaluated" and model.kind == "open-mllm",
    "@engines": lambda model: model.kind == "ocr",
}


class Selection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cells of the columns `of` (a reference, which may contain ``*``) in some rows.

    `rows` are names, patterns (``InternVL2.5-*``) or groups: ``@evaluated`` (the default: the
    models of the main tables), ``@closed``, ``@open``, ``@engines``, ``@size 7-8`` (billions of
    parameters, inclusive). `without` removes rows by the same rules.

    A comparison is with the quantity `than`, or with the cell of the same row in the column
    `than_of`. A mean over `parts` is weighted, with `weights_of` (``"Table 2 | n_task"``), by what
    the row named like a part's task or domain has in that column.
    """

    of: str = ""
    row: str = ""
    rows: tuple[str, ...] = _EVALUATED
    without: tuple[str, ...] = ()
    sense: Sense = "equal to"
    than: Quantity | None = None
    than_of: str = ""
    parts: tuple[str, ...] = ()
    weights_of: str = ""
    first: Quantity | str = ""
    second: Quantity | str = ""


class Quantity(Selection, frozen=True, kw_only=True):
    """A number that is computed from printed cells, or stated in the paper's text.

    * ``stated``: the mean of `numbers` as printed (``["52.0", "65.9"]``), weighted by `weights`;
    * ``cell``: the cell of the column `of` in `row`;
    * ``mean``, ``sum``, ``highest``, ``lowest``, ``size``: of the selected cells;
    * ``count``: how many of them compare as `sense`, with `percent` their share in percent;
    * ``on_grid``: how many of them print a whole number of `steps`-ths of a perfect score; with
      `up_to` the highest such count for any number of steps from `steps` to `up_to`;
    * ``row_mean``: the mean of the cells of `row` in the columns `parts`;
    * ``place``: the rank of `row` by `of` among `rows`; 1 is the best, equal values share a rank;
    * ``difference``, ``ratio``: of two quantities, a ratio times 100 if `percent`;
    * ``correlation`` of two columns, ``correlation_with_size`` of one with the models' billions of
      parameters: of the printed numbers, not turned round where less is better.
    """

    take: Literal[
        "stated", "cell", "mean", "sum", "highest", "lowest", "size", "count", "on_grid",
        "row_mean", "place", "difference", "ratio", "correlation", "correlation_with_size",
    ]  # fmt: skip
    numbers: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    percent: bool = False
    steps: int = 1
    up_to: int = 0
    method: Literal["spearman", "pearson", "kendall"] = "spearman"


class Amount(NamedTuple):
    """A computed number, and by how much rounding of the printed cells may have changed it."""

    value: float
    half: float = 0.0


class Statement(Selection, frozen=True, kw_only=True):
    """Something that printed cells make true or false.

    * ``equals``: `amount` is the number `stated`, written as in the paper (``"35.46"``): its digits
      set the tolerance. For "about 3,000" give the tolerance in `within`;
    * ``compares``: `first` is `sense` `second`;
    * ``first``: in each of the columns `of`, `models` have the best places among `rows` (a tie
      counts), in any order or, with `ordered`, in the order given; `from_worst`: the worst places;
    * ``ordered``: in each of the columns `of`, each of `rows` is better than the one after it;
    * ``every``, ``none``: all, or none, of the selected cells are `sense` the limit;
    * ``highest_column``: in `row`, `column` has the highest number of the columns `of` (`lowest`:
      the lowest);
    * ``means``: in every row, the cell of `of` is the mean of the row's cells in `parts`.
    """

    kind: Literal[
        "equals", "compares", "first", "ordered", "every", "none", "highest_column", "means"
    ]
    amount: Quantity | None = None
    stated: str = "0"
    within: float | None = None
    models: tuple[str, ...] = ()
    ordered: bool = False
    from_worst: bool = False
    column: str = ""
    lowest: bool = False


class TestResult(NamedTuple):
    """Whether a statement is true, and the numbers that it was decided by."""

    is_true: bool
    values: tuple[float, ...]


class Claim(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One statement of a paper, in our own words.

    `place` is section and paragraph; `quote` has the disputed words only, at most 12. `checks` are
    what the claim says; `facts` are what the note says, each of which must be true; `text_fact` is
    the place in the paper's text on which a note rests instead. `verdict` is what the author of the
    entry declares; `decide` computes it. `short` is the contradiction in a few words, and `finding`
    the id of the check whose finding shows it too, so that the page does not list it twice.
    """

    id: str
    place: str
    states: str
    states_zh: str
    verdict: Verdict
    quote: str = ""
    note: str = ""
    note_zh: str = ""
    checks: tuple[Statement, ...] = ()
    facts: tuple[Statement, ...] = ()
    text_fact: str = ""
    short: str = ""
    short_zh: str = ""
    finding: str = ""


class ClaimDecision(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A claim with the verdict that its checks give, and the numbers that decided it."""

    benchmark: str
    claim: Claim
    verdict: Verdict
    checks: tuple[bool, ...]
    facts: tuple[bool, ...]
    values: tuple[float, ...]


class _Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    claims: tuple[Claim, ...] = ()


@cache
def declared_claims(benchmark: str) -> tuple[Claim, ...]:
    """The claims that are stored of one paper, in the file's order.

    Raises:
        DataError: the file of claims is not in this format.
    """
    path = paper_file(benchmark, "claims.toml")
    return read_toml(path, _Claims, what="a file of claims").claims if path else ()


def decide(paper: PrintedTables, claim: Claim) -> ClaimDecision:
    """Compute the verdict of a claim from the printed cells.

    Without checks it cannot be checked; with one that is false it does not hold; with all true it
    holds, and with a qualification if there are facts or a place in the text against it.

    Raises:
        DataError: a check names a column or row that does not exist.
    """
    checks = [test(paper, each) for each in claim.checks]
    facts = [test(paper, each) for each in claim.facts]
    verdict: Verdict
    if not checks:
        verdict = "cannot be checked"
    elif not all(each.is_true for each in checks):
        verdict = "does not hold"
    elif facts or claim.text_fact:
        verdict = "holds with a qualification"
    else:
        verdict = "holds"
    return ClaimDecision(
        benchmark=paper.benchmark,
        claim=claim,
        verdict=verdict,
        checks=tuple(each.is_true for each in checks),
        facts=tuple(each.is_true for each in facts),
        values=tuple(value for each in (*checks, *facts) for value in each.values),
    )


def amount(paper: PrintedTables, quantity: Quantity | str | None) -> Amount:
    """Compute a quantity.

    Raises:
        DataError: a column or a row does not exist, nothing is selected, or no quantity is given.
    """
    if not isinstance(quantity, Quantity):
        raise DataError("a quantity is missing", file=paper.benchmark, item=quantity or None)
    return _TAKES[quantity.take](paper, quantity)


def _stated(paper: PrintedTables, quantity: Quantity) -> Amount:  # noqa: ARG001
    numbers, weights = quantity.numbers, quantity.weights or (1.0,) * len(quantity.numbers)
    total = sum(weight * float(number) for weight, number in zip(weights, numbers, strict=True))
    return Amount(total / sum(weights), max(map(_half_of, numbers)))


def _cell(paper: PrintedTables, quantity: Quantity) -> Amount:
    column = paper.column(quantity.of)
    return Amount(_value(column, quantity.row), column.half)


def _mean(paper: PrintedTables, quantity: Quantity) -> Amount:
    cells = _select_cells(paper, quantity)
    return Amount(sum(value for _, _, value in cells) / len(cells), _widest(cells))


def _sum(paper: PrintedTables, quantity: Quantity) -> Amount:
    cells = _select_cells(paper, quantity)
    return Amount(sum(value for _, _, value in cells), sum(column.half for column, _, _ in cells))


def _extreme(paper: PrintedTables, quantity: Quantity) -> Amount:
    cells = _select_cells(paper, quantity)
    pick = max if quantity.take == "highest" else min
    return Amount(pick(value for _, _, value in cells), _widest(cells))


def _size(paper: PrintedTables, quantity: Quantity) -> Amount:
    return Amount(float(len(_select_cells(paper, quantity))))


def _count(paper: PrintedTables, quantity: Quantity) -> Amount:
    verdicts = [is_so for _, _, is_so in _compared(paper, quantity)]
    return Amount(100 * sum(verdicts) / len(verdicts) if quantity.percent else float(sum(verdicts)))


def _on_grid(paper: PrintedTables, quantity: Quantity) -> Amount:
    cells = _select_cells(paper, quantity)
    most = max(quantity.steps, quantity.up_to)
    counts = (
        sum(on_grid(value, column, steps) for column, _, value in cells)
        for steps in range(quantity.steps, most + 1)
    )
    return Amount(float(max(counts)))


def _row_mean(paper: PrintedTables, quantity: Quantity) -> Amount:
    return _mean_of_parts(paper, quantity, quantity.row)


def _place(paper: PrintedTables, quantity: Quantity) -> Amount:
    column = paper.column(quantity.of)
    placed = places(column, {*_select_rows(paper, column, quantity.rows), quantity.row})
    return Amount(1.0 + sum(other < placed[quantity.row] for other in placed.values()))


def _difference(paper: PrintedTables, quantity: Quantity) -> Amount:
    first, second = amount(paper, quantity.first), amount(paper, quantity.second)
    return Amount(first.value - second.value, first.half + second.half)


def _ratio(paper: PrintedTables, quantity: Quantity) -> Amount:
    first, second = amount(paper, quantity.first), amount(paper, quantity.second)
    scale = 100.0 if quantity.percent else 1.0
    value = scale * first.value / second.value
    share = second.half / abs(second.value)
    return Amount(value, scale * first.half / abs(second.value) + abs(value) * share)


def _correlation(paper: PrintedTables, quantity: Quantity) -> Amount:
    first, second = paper.column(str(quantity.first)), paper.column(str(quantity.second))
    selected = _select_rows(paper, first, quantity.rows, quantity.without)
    rows = [row for row in selected if row in second.values]
    function = _METHODS[quantity.method]
    return Amount(
        function([first.values[row] for row in rows], [second.values[row] for row in rows])
    )


def _correlation_with_size(paper: PrintedTables, quantity: Quantity) -> Amount:
    column = paper.column(quantity.of)
    sizes = {
        row: model.size_b
        for row in _select_rows(paper, column, quantity.rows, quantity.without)
        if (model := published_model(paper.benchmark, row)) and model.size_b is not None
    }
    function = _METHODS[quantity.method]
    return Amount(function(list(sizes.values()), [column.values[row] for row in sizes]))


_TAKES: dict[str, Callable[[PrintedTables, Quantity], Amount]] = {
    "stated": _stated,
    "cell": _cell,
    "mean": _mean,
    "sum": _sum,
    "highest": _extreme,
    "lowest": _extreme,
    "size": _size,
    "count": _count,
    "on_grid": _on_grid,
    "row_mean": _row_mean,
    "place": _place,
    "difference": _difference,
    "ratio": _ratio,
    "correlation": _correlation,
    "correlation_with_size": _correlation_with_size,
}


def test(paper: PrintedTables, statement: Statement) -> TestResult:
    """Decide a statement.

    Raises:
        DataError: a column or row that it names does not exist.
    """
    return _KINDS[statement.kind](paper, statement)


def _equals(paper: PrintedTables, statement: Statement) -> TestResult:
    total, stated = amount(paper, statement.amount), float(statement.stated)
    allowed = _half_of(statement.stated) if statement.within is None else statement.within
    near = abs(total.value - stated) <= allowed + total.half + EPSILON
    return TestResult(near, (total.value, stated))


def _compares(paper: PrintedTables, statement: Statement) -> TestResult:
    first, second = amount(paper, statement.first).value, amount(paper, statement.second).value
    return TestResult(_COMPARE[statement.sense](first, second), (first, second))


def _first(paper: PrintedTables, statement: Statement) -> TestResult:
    """Whether as many rows as there are models, and no others, are in front."""
    models, sign = statement.models, -1 if statement.from_worst else 1
    is_true, values = True, list[float]()
    for column in paper.columns(statement.of):
        _select_rows(paper, column, models)  # Each of them must be in the column.
        placed = places(column, {*_select_rows(paper, column, statement.rows), *models})
        signed_places = [sign * placed[model] for model in models]
        last = max(signed_places)
        in_front = {row for row, place in placed.items() if sign * place < last} - {*models}
        best = min(placed, key=lambda row: sign * placed[row])
        in_order = not statement.ordered or signed_places == sorted(signed_places)
        is_true = is_true and not in_front and in_order
        values += [column.values[row] for row in (*models, best)]
    return TestResult(is_true, tuple(values))


def _ordered(paper: PrintedTables, statement: Statement) -> TestResult:
    """Whether the named rows are in this order, equal values not counting as better."""
    is_true, values = True, list[float]()
    for column in paper.columns(statement.of):
        _select_rows(paper, column, statement.rows)
        placed = places(column, statement.rows)
        order = [placed[row] for row in statement.rows]
        is_true = is_true and all(a < b for a, b in pairwise(order))
        values += [column.values[row] for row in statement.rows]
    return TestResult(is_true, tuple(values))


def _every(paper: PrintedTables, statement: Statement) -> TestResult:
    """The values are those that do not compare so, then the extremes."""
    compared = _compared(paper, statement)
    failing = [value for value, _, is_so in compared if not is_so]
    values = [value for value, _, _ in compared]
    limits = [limit for _, limit, _ in compared]
    numbers = (*failing, min(values), max(values), min(limits), max(limits))
    if statement.kind == "every":
        return TestResult(not failing, numbers)
    return TestResult(len(failing) == len(compared), numbers)


def _highest_column(paper: PrintedTables, statement: Statement) -> TestResult:
    sign = -1 if statement.lowest else 1
    claimed = paper.column(statement.column).values[statement.row]
    values = [column.values[statement.row] for column in paper.columns(statement.of)]
    best = max(values, key=lambda value: sign * value)
    return TestResult(sign * claimed >= sign * best, (claimed, best))


def _means(paper: PrintedTables, statement: Statement) -> TestResult:
    """Whether all means agree, within rounding; the value is the largest difference."""
    column = paper.column(statement.of)
    differences, near = [], []
    for _, row, value in _select_cells(paper, statement):
        mean = _mean_of_parts(paper, statement, row)
        differences.append(abs(mean.value - value))
        near.append(differences[-1] <= mean.half + column.half + EPSILON)
    return TestResult(all(near), (max(differences),))


_KINDS: dict[str, Callable[[PrintedTables, Statement], TestResult]] = {
    "equals": _equals,
    "compares": _compares,
    "first": _first,
    "ordered": _ordered,
    "every": _every,
    "none": _every,
    "highest_column": _highest_column,
    "means": _means,
}


_Cell = tuple[Column, str, float]
"""A selected cell: its column, its row, and its number."""


def _select_cells(paper: PrintedTables, selection: Selection) -> list[_Cell]:
    cells = [
        (column, row, column.values[row])
        for column in paper.columns(selection.of)
        for row in _select_rows(paper, column, selection.rows, selection.without)
    ]
    if not cells:
        raise DataError("no cell is selected", file=paper.benchmark, item=selection.of)
    return cells


def _select_rows(
    paper: PrintedTables, column: Column, wanted: Sequence[str], without: Sequence[str] = ()
) -> list[str]:
    """The rows of a column with a number that are meant by names, patterns or groups.

    Raises:
        DataError: a name (not a pattern) is not in the column.
    """
    for name in (*wanted, *without):
        if name[0] != "@" and not set("*?") & set(name):
            _value(column, name)
    return [
        row
        for row in column.values
        if any(_is_meant(paper, row, each) for each in wanted)
        and not any(_is_meant(paper, row, each) for each in without)
    ]


def _is_meant(paper: PrintedTables, row: str, wanted: str) -> bool:
    if not wanted.startswith("@"):
        return fnmatchcase(row, wanted)
    model = published_model(paper.benchmark, row)
    if wanted.startswith("@size "):
        low, high = map(float, wanted.removeprefix("@size ").split("-"))
        return model is not None and model.size_b is not None and low <= model.size_b <= high
    if wanted not in _GROUPS:
        raise DataError("no such group of rows", file=paper.benchmark, item=wanted)
    return model is not None and _GROUPS[wanted](model)


def _compared(paper: PrintedTables, selection: Selection) -> list[tuple[float, float, bool]]:
    """Each selected cell with its limit, and whether the two compare as the selection says."""
    compared = []
    for _, row, value in _select_cells(paper, selection):
        if selection.than_of:
            limit = _value(paper.column(selection.than_of), row)
        else:
            limit = amount(paper, selection.than).value
        compared.append((value, limit, _COMPARE[selection.sense](value, limit)))
    return compared


def _mean_of_parts(paper: PrintedTables, selection: Selection, row: str) -> Amount:
    """The mean of a row's cells; rounding changes it by at most the widest of the parts'."""
    columns = [column for part in selection.parts for column in paper.columns(part)]
    weights = [1.0] * len(columns)
    if selection.weights_of:
        weight_column = paper.column(selection.weights_of)
        weights = [_value(weight_column, column.task) for column in columns]
    pairs = zip(weights, columns, strict=True)
    total = sum(weight * _value(column, row) for weight, column in pairs)
    return Amount(total / sum(weights), max(column.half for column in columns))


def _widest(cells: Sequence[_Cell]) -> float:
    return max(column.half for column, _, _ in cells)


def _half_of(number: str) -> float:
    """Half a unit of the last digit of a number as it is written."""
    return 0.5 * 10.0 ** -len(number.partition(".")[2])


def _value(column: Column, row: str) -> float:
    if row not in column.values:
        raise DataError(
            "no number in this row", file=column.benchmark, item=f"{column.place}, {row}"
        )
    return column.values[row]
