"""What the report says of the time and cost of engines."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from keju.analysis.asked_items import Run
from keju.analysis.engine_times import Collection, collection_of, speeds
from keju.analysis.run_set import ModelResponses, RunSet
from keju.errors import UsageError
from keju.items import PromptVariant
from keju.reporting.csv_export import _times
from keju.reporting.time_table import span, time_lines, time_table
from keju.running.prices import Price, Prices
from keju.running.timing import Timing, add_timings
from keju.runs import RunFolder

IDENTITY = {"kind": "ppocr", "rapidocr": "3.10.0", "onnxruntime": "1.31.1"}
TIMED = Timing(model="ppocr", machine="AMD X, 4 CPU, Linux", pages=10, answers=10, seconds=20.0)


def run_set(path: Path, *timings: Timing, identity: dict[str, str] = IDENTITY) -> RunSet:
    add_timings(RunFolder(path), timings)
    run = Run("run", path, SimpleNamespace(models={"ppocr": identity}))
    roles = {"ppocr": "engine", "openai:m": "model"}
    by_model = {
        name: ModelResponses(name, "run", PromptVariant(), role,
                             items=10, responses=10, seconds=50.0,
                    output_tokens=1000, input_tokens=9000, statuses=Counter(answered=10))
        for name, role in roles.items()
    }  # fmt: skip
    return RunSet([run], by_model, {}, {})


def test_a_speed_is_what_was_timed_and_names_machine_and_runtime(tmp_path):
    (row,) = time_table(run_set(tmp_path, TIMED)).rows
    assert row.model == "ppocr"
    assert row.machine == "AMD X, 4 CPU, Linux"
    assert row.runtime == "rapidocr 3.10.0, onnxruntime 1.31.1"
    assert (row.pages, row.wall) == ("10", "2 s")
    assert (row.thousand, row.days, row.cost, row.why) == ("33 min", "–", "–", "")


def test_a_stated_collection_is_converted_to_days_and_cost(tmp_path):
    prices = Prices(currency="USD", models=(Price(names=("m",), input=1.0, output=10.0),))
    found = run_set(tmp_path, TIMED)
    table = time_table(found, Collection(1_000_000, 0.20, "EUR"), prices)
    engine, server = table.rows
    assert (table.collection, table.cost) == ("1,000,000", "cost, EUR")
    # 2 s a page: 23.1 days, 555.6 hours at 0.20.
    assert (engine.days, engine.cost) == ("23 days", "111.11")
    # 900 tokens in and 100 out a page: 0.0019 USD.
    assert (server.model, server.cost, server.days) == ("openai:m", "1,900.00 USD", "–")
    first, second = time_lines(table)
    assert "33 min for 1,000 pages, 23 days for 1,000,000 pages, cost 111.11 EUR" in first
    assert "1,900.00 USD" in second


def test_sessions_on_one_machine_are_added(tmp_path):
    more = replace(TIMED, pages=30, answers=15, seconds=40.0)
    speed = speeds(run_set(tmp_path, TIMED, more))["ppocr"]
    assert (speed.pages, speed.wall, speed.thousand, speed.why) == (40, 1.5, 2400, "")


def test_of_several_machines_the_one_with_most_pages_counts(tmp_path):
    other = replace(TIMED, machine="AMD X, 64 CPU", pages=5, answers=5, seconds=1.0)
    assert speeds(run_set(tmp_path, TIMED, other))["ppocr"].machine == TIMED.machine


def test_where_no_time_was_recorded_the_reason_is_given_instead(tmp_path):
    table = time_table(run_set(tmp_path), Collection(1000, 1.0))
    (row,) = table.rows
    assert (row.thousand, row.days, row.cost, row.wall) == ("–", "–", "–", "–")
    assert "did not record its time" in row.why
    assert "did not record its time" in next(time_lines(table))


@pytest.mark.parametrize(
    ("text", "price", "currency"),
    [("0.20/h", 0.2, ""), ("0.20", 0.2, ""), ("3EUR/h", 3, "EUR"), ("€ 1.5 /h", 1.5, "€")],
)
def test_prices_of_a_machine(text, price, currency):
    assert collection_of(10, text) == Collection(10, price, currency)


@pytest.mark.parametrize(
    ("pages", "text"),
    [(None, "1/h"), (0, ""), (-1, ""), (10, "cheap"), (10, "-1/h"), (10, "1/d"), (10, "EUR1USD/h")],
)
def test_collections_that_make_no_sense_are_refused(pages, text):
    with pytest.raises(UsageError):
        collection_of(pages, text)
    assert collection_of(None, "") is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "–"), (2.34, "2.3 s"), (45, "45 s"), (120, "2 min"), (5400, "1.5 h"),
     (172_800, "2.0 days"), (2_000_000, "23 days"), (1e9, "11,574 days")],
)  # fmt: skip
def test_times_are_given_in_the_unit_that_suits_them(seconds, words):
    assert span(seconds) == words


MILLION = Collection(1_000_000, 0.20, "EUR")


def test_a_collection_of_1000_pages_is_not_named_twice(tmp_path):
    table = time_table(run_set(tmp_path, TIMED), Collection(1000, 0.20))
    (line,) = time_lines(table)
    assert not table.converted
    assert line.count("1,000") == 1
    assert "cost 0.11" in line


def test_the_cost_of_a_server_keeps_the_currency_of_its_prices(tmp_path):
    prices = Prices(currency="USD", models=(Price(names=("m",), input=1.0, output=10.0),))
    table = time_table(run_set(tmp_path, TIMED), Collection(1_000_000, 0.20, "EUR"), prices)
    _, server = time_lines(table)
    assert "cost 1,900.00 USD (" in server


@pytest.mark.parametrize(
    ("identity", "runtime"),
    [
        (
            {"kind": "ppocr", "rapidocr": "3.10.0", "onnxruntime": "1.31"},
            "rapidocr 3.10.0, onnxruntime 1.31",
        ),
        (
            {"kind": "tesseract", "tesseract": "tesseract 5.3.0", "language": "chi_tra_vert",
             "page_segmentation": "3"},
            "tesseract 5.3.0, lang=chi_tra_vert, psm=3",
        ),
    ],
    ids=["ppocr", "tesseract"],
)  # fmt: skip
def test_versions_and_settings_of_an_engine_are_named(tmp_path, identity, runtime):
    (row,) = time_table(run_set(tmp_path, TIMED, identity=identity)).rows
    assert row.runtime == runtime


def test_the_csv_has_the_times_and_costs_as_numbers(tmp_path):
    table = time_table(run_set(tmp_path, TIMED), MILLION)
    frame = _times(SimpleNamespace(view=SimpleNamespace(times=table)))["times"]
    (row,) = frame.rows(named=True)
    assert (row["seconds_a_page"], round(row["days"], 1), round(row["cost"], 2)) == (
        2.0, 23.1, 111.11,
    )  # fmt: skip
    assert (row["machine"], row["currency"]) == (TIMED.machine, "EUR")
