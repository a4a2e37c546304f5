"""Twenty pages of nine printed editions, ordered by hand, against the order by geometry.

The pages are those of chi-know-po, which carry no reading order of their own. ``hand_order/*.csv``
hold the rank of every line, empty for a marginal line; both parts were ordered by reading the text.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import pytest

from keju.datasets.readers.pages.page_xml import read_page
from keju.layout import order_lines

RANKS = Path(__file__).parent / "hand_order"


def hand_orders() -> dict[str, dict[str, str]]:
    pages: dict[str, dict[str, str]] = defaultdict(dict)
    for part in sorted(RANKS.glob("*.csv")):
        with part.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                pages[row["page"]][row["line"]] = row["rank"]
    return dict(pages)


def kendall_tau(order: Sequence[str], truth: Sequence[str]) -> float:
    """Kendall's tau of two orders of the same lines; the first may have more."""
    place = {name: at for at, name in enumerate(order)}
    places = [place[name] for name in truth]
    pairs = len(places) * (len(places) - 1) / 2
    swapped = sum(one > other for at, one in enumerate(places) for other in places[at + 1 :])
    return 1 - 2 * swapped / pairs if pairs else 1.0


def test_kendall_tau_is_one_for_the_same_order_and_minus_one_for_its_reverse():
    assert kendall_tau("abcd", "abcd") == 1
    assert kendall_tau("abcd", "dcba") == -1
    assert kendall_tau("axbcd", "abdc") == pytest.approx(1 - 2 / 6)


@pytest.mark.parametrize("bare", [False, True], ids=["with kinds", "boxes alone"])
def test_geometry_reads_twenty_pages_as_people_do(shared: Path, capsys, bare: bool):
    taus = {}
    confused = 0
    for name, ranks in hand_orders().items():
        page = read_page(shared / "data" / "chi-know-po" / "page" / name)
        lines = [
            type(line)(id=line.id, polygon=line.polygon) if bare else line for line in page.lines
        ]
        order = order_lines(lines, width=page.width, height=page.height)
        found = [line.id for line in order.reading + order.marginalia]
        assert set(found) == set(ranks)
        ranked = {line: int(rank) for line, rank in ranks.items() if rank}
        taus[name] = kendall_tau(found, sorted(ranked, key=lambda line: ranked[line]))
        confused += len({line.id for line in order.marginalia} ^ (ranks.keys() - ranked.keys()))
    with capsys.disabled():
        print()
        for name, tau in sorted(taus.items(), key=lambda it: it[1]):
            print(f"  {tau:.4f}  {name}")
        print(f"  {mean(taus.values()):.4f}  mean of {len(taus)} pages, {confused} lines mistaken")
    assert len(taus) == 20
    assert mean(taus.values()) >= 0.98
    assert min(taus.values()) >= 0.9
    assert confused == 0 or bare
