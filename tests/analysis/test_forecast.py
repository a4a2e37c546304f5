"""Forecasts of large collections from a run of a sample."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from keju.analysis.forecast import Extent, forecast
from keju.errors import UsageError
from keju.items import Item, Response, Usage
from keju.running import Plan
from keju.running.machine import Machine
from keju.running.plan_records import PlanRow
from keju.running.prices import MachinePrice, Price, Prices
from keju.running.timing import Timing, add_timings
from keju.runs import RunFolder, RunManifest

MACHINE = Machine(processor="AMD X", cores=4, memory=16.0, system="Linux")
TIMED = Timing(
    model="ppocr", ended="2026-01-01", machine=MACHINE, identity={}, pages=12, answers=12,
    wall=24.0, cpu=60.0, first=3.6, others=0.02, load=5.0, memory=900,
)  # fmt: skip
PAGES = 1_200_000
PRICE = MachinePrice(0.5, "EUR")
ENGINE = SimpleNamespace(name="ppocr", identity={}, concurrency=1)
SERVER = SimpleNamespace(
    name="openai:m", identity={"endpoint": "http://localhost/v1", "model": "m"}, concurrency=4
)
PRICES = Prices(currency="USD", models=(Price(names=("m",), input=1.0, output=10.0),))


def sample(path, *timings, groups=6, seconds=(2.0,)):
    """A run of twelve pages by both models."""
    run = RunFolder(path)
    items = [
        Item(id=f"p{n}", benchmark="MCS-Bench", task="T1", answer="天", group=f"g{n % groups}")
        for n in range(12)
    ]
    run.write_items(items)
    run.write_manifest(
        RunManifest(
            keju="0", dataset="d", dataset_version="1", dataset_hash="h",
            models={"ppocr": {}, "openai:m": {}},
        )
    )  # fmt: skip
    for model in ("ppocr", "openai:m"):
        lines = [
            msgspec.json.encode(
                Response(
                    key=f"k{n}", item=item.id, model=model, benchmark="MCS-Bench", task="T1",
                    status="answered", text="天", seconds=seconds[n % len(seconds)],
                    usage=Usage(input_tokens=900, output_tokens=100),
                )
            )
            for n, item in enumerate(items)
        ]  # fmt: skip
        file = run.responses_path(model, "T1")
        file.parent.mkdir(parents=True)
        file.write_bytes(b"\n".join(lines) + b"\n")
    add_timings(run, timings)
    return run


def plan():
    """A dataset of 24 items with one image of 100,000 bytes each."""
    rows = [
        PlanRow(model=name, task="T1", calls=24, images=24, image_bytes=2_400_000, wire_bytes=sent)
        for name, sent in (("ppocr", 0), ("openai:m", 3_600_000))
    ]
    return Plan(items=24, rows=tuple(rows))


def test_hours_of_an_engine_are_its_start_and_its_share_of_the_pages(tmp_path):
    (found,) = forecast(
        plan(),
        [ENGINE],
        sample(tmp_path, TIMED),
        Extent(PAGES, machines=10, price=PRICE),
        table_bytes=1000,
    )
    # 2 s for each of 120,000 pages on a machine, after 3.6 s.
    assert found.hours.value == pytest.approx(120_000 * 2 / 3600 + 0.001)
    assert (found.pages, found.requests, found.sample, found.groups) == (
        1_200_000,
        1_200_000,
        12,
        6,
    )
    assert found.memory == 900
    assert found.dataset_bytes == 1_200_000 * 101_000
    assert found.sent_bytes == 0
    assert found.cost.value == pytest.approx(found.hours.value * 10 * 0.5)
    assert (found.currency, found.why) == ("EUR", "")


def test_the_interval_is_over_the_groups_of_the_sample(tmp_path):
    run = sample(tmp_path, TIMED, seconds=(1.0, 2.0, 3.0))
    (found,) = forecast(plan(), [ENGINE], run, Extent(PAGES), table_bytes=0)
    assert found.hours.low < found.hours.value < found.hours.high
    # One second more or less in two is the most that a page differs.
    assert found.hours.low > found.hours.value / 2
    assert found.hours.high < found.hours.value * 1.5
    few = sample(tmp_path / "few", TIMED, groups=5, seconds=(1.0, 2.0, 3.0))
    (found,) = forecast(plan(), [ENGINE], few, Extent(PAGES), table_bytes=0)
    assert (found.hours.low, found.hours.high) == (None, None)


def test_on_a_busy_machine_hours_and_cost_are_ranges(tmp_path):
    busy = msgspec.structs.replace(TIMED, others=0.5)
    extent = Extent(PAGES, price=PRICE)
    (found,) = forecast(plan(), [ENGINE], sample(tmp_path, busy), extent, table_bytes=0)
    # From 5 s of processor time a page on 4 cores to the 2 s that passed.
    assert found.hours.low == pytest.approx(1_200_000 * 5 / 4 / 3600, abs=0.01)
    assert found.hours.high == pytest.approx(1_200_000 * 2 / 3600, abs=0.01)
    assert (found.cost.low, found.cost.high) == (found.hours.low / 2, found.hours.high / 2)
    assert (found.why, "50 %" in found.busy) == ("", True)


@pytest.mark.parametrize(
    ("endpoint", "prices", "hourly"),
    [
        ("http://10.0.0.5:8000/v1", None, True),
        ("http://10.0.0.5:8000/v1", PRICES, False),
        ("https://api.openai.com/v1", None, False),
    ],
)
def test_a_server_of_ones_own_without_a_price_of_tokens_costs_by_the_hour(
    tmp_path, endpoint, prices, hourly
):
    model = SimpleNamespace(
        name="openai:m", identity={**SERVER.identity, "kind": "openai", "endpoint": endpoint},
        concurrency=4,
    )  # fmt: skip
    extent = Extent(PAGES, machines=2, prices=prices, price=PRICE)
    (found,) = forecast(plan(), [model], sample(tmp_path), extent, table_bytes=0)
    assert found.hourly == hourly
    if hourly:
        # 2 s for each request, 4 in flight on each of 2 machines.
        assert found.cost.value == pytest.approx(1_200_000 * 2 / 4 / 3600 * 0.5)
        assert found.currency == "EUR"
    else:
        assert (found.cost is None) == (prices is None)


def test_an_endpoint_takes_its_requests_in_flight_and_the_counted_tokens(tmp_path):
    run = sample(tmp_path)
    extent = Extent(PAGES, machines=2, prices=PRICES)
    (found,) = forecast(plan(), [SERVER], run, extent, table_bytes=0)
    assert found.hours.value == pytest.approx(1_200_000 * 2 / 4 / 2 / 3600)
    assert found.sent_bytes == 1_200_000 * 150_000
    # 900 tokens in and 100 out: 0.0019 USD for each request.
    assert found.cost.value == pytest.approx(2280)
    assert found.currency == "USD"
    assert found.machine is None
    size = run.responses_path("openai:m", "T1").stat().st_size
    assert found.response_bytes == round(size / 12 * 1_200_000)


def test_a_stated_rate_is_the_lower_limit_of_hours(tmp_path):
    extent = Extent(PAGES, per_minute=60)
    (found,) = forecast(plan(), [SERVER], sample(tmp_path), extent, table_bytes=0)
    assert found.hours.value == pytest.approx(1_200_000 / 60 / 60)


def test_without_a_collection_the_dataset_is_the_collection(tmp_path):
    run = sample(tmp_path, TIMED)
    (found,) = forecast(plan(), [ENGINE], run, Extent(), table_bytes=0)
    assert (found.pages, found.requests, found.cost) == (24, 24, None)


@pytest.mark.parametrize(
    ("model", "machines", "name"),
    [(ENGINE, 0, "analysis.machines-out-of-range"), ("other", 1, "analysis.no-model")],
)
def test_wrong_machines_and_models_are_refused(tmp_path, model, machines, name):
    if model == "other":
        model = SimpleNamespace(name="other", identity={}, concurrency=1)
    with pytest.raises(UsageError) as caught:
        forecast(plan(), [model], sample(tmp_path, TIMED), Extent(machines=machines), table_bytes=0)
    assert caught.value.id == name
