"""What a run may take: it stops before more is sent, says why, and goes on when told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keju.cli.output.run_summary import failure_lines
from keju.errors import UsageError
from keju.items import Request, Usage
from keju.models import Answer, ModelOptions
from keju.running import RunSummary, Selection, run
from keju.running.limits import UNLIMITED_OUTPUT, Budget, CostEstimator, Slots, may_be_paid
from keju.running.prices import Price, Prices
from keju.runs import RunFolder
from tests.support.commanding import keju
from tests.support.making import make_dataset
from tests.support.policies import policy_of
from tests.support.serving import Chat, run_command

ITEMS = 20
MODEL = "openai:served"
EACH = 1000 * 2e-6 + 12 * 10e-6
"""What an answer of the test server costs: it counts 1,000 tokens in and 12 out."""
PRICES = Prices(currency="EUR", models=(Price(names=("served",), input=2, output=10),))
REQUEST = Request(item="i", benchmark="b", task="T1", form="text", prompt="天地玄黃")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("budget") / "d", pages=ITEMS)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


def go(dataset: Path, out: Path, chat: Chat, *, limit: int | None = None, **policy) -> RunSummary:
    return run(
        dataset,
        [MODEL],
        out,
        selection=Selection(limit=limit),
        options=ModelOptions(base_url=chat.url),
        policy=policy_of(**{"concurrency": 4, "first_wait": 0.01, **policy}),
    )


def stored(out: Path) -> int:
    return len(list(RunFolder.open(out).responses()))


def test_why_requests_were_sent_again_is_printed_though_the_budget_ended_first(
    chat: Chat, dataset: Path, out: Path
):
    # A cut reply may have been charged, which uses up the budget before a second attempt.
    chat.plan(modes=["truncated-json"], times=50)
    summary = go(dataset, out, chat, concurrency=1, max_cost=0.02, prices=PRICES)
    assert stored(out) == 0
    ((kind, message),) = summary.models[0].trouble.items()
    assert kind == "bad-response"
    line = next(failure_lines(RunFolder.open(out), summary))
    assert line.startswith(
        f"{summary.models[0].model}: stopped while sending requests again after bad-response: "
    )
    assert message in line


def test_money_is_never_overspent_and_the_same_command_again_spends_nothing(
    chat: Chat, dataset: Path, out: Path
):
    chat.plan(delay=0.01)
    most = {"max_cost": 0.03, "prices": PRICES}
    summary = go(dataset, out, chat, **most)
    # One more of what may be written at most would have gone beyond it.
    expected = CostEstimator({"endpoint": "e", "model": "served"}, PRICES)
    assert summary.cost == pytest.approx(stored(out) * EACH)
    assert summary.cost <= 0.03 < summary.cost + expected.cost(expected.expected(REQUEST)) + EACH
    assert summary.used_up.startswith("the limit --max-cost 0.03 EUR is reached: ")
    assert "higher --max-cost" in summary.advice
    sent = chat.stats()["requests"]
    assert go(dataset, out, chat, **most).used_up
    assert chat.stats()["requests"] == sent == stored(out)
    done = go(dataset, out, chat, max_cost=1, prices=PRICES)
    assert done.complete
    assert done.cost == pytest.approx(ITEMS * EACH)


def test_money_is_counted_where_it_is_not_limited(chat: Chat, dataset: Path, out: Path):
    chat.plan()
    summary = go(dataset, out, chat, limit=3, prices=PRICES)
    assert summary.cost == pytest.approx(3 * EACH)


def test_only_failures_without_a_reply_may_have_been_charged():
    kinds = ("rate", "server", "timeout", "connection", "bad-response", "bad-request")
    assert list(filter(may_be_paid, kinds)) == ["timeout", "connection", "bad-response"]


def test_what_may_have_been_paid_for_is_remembered_by_the_next_call(
    chat: Chat, dataset: Path, out: Path
):
    # Two replies that cannot be read, then an answer; the server counted only the last.
    chat.plan(modes=["truncated-json"], times=2)
    budget = {"max_cost": 1, "prices": PRICES}
    first = go(dataset, out, chat, limit=3, **budget)
    responses = list(RunFolder.open(out).responses())
    assert [each.attempts for each in responses] == [3, 3, 3]
    price = PRICES.price("served")
    unseen = sum(
        price.of(each.uncounted.input_tokens, each.uncounted.output_tokens) for each in responses
    )
    assert all(each.uncounted.output_tokens == 2 * UNLIMITED_OUTPUT for each in responses)
    # An attempt is set aside at the dearest answer so far if that is more, so never for less.
    assert first.cost >= unseen + 3 * EACH - 1e-12
    again = go(dataset, out, chat, limit=3, **budget)
    assert again.cost == pytest.approx(unseen + 3 * EACH)


def test_requests_wait_until_the_cost_of_those_in_flight_is_known():
    async def body() -> None:
        slots, budget = Slots(4), Budget(1.5, "EUR")
        assert await budget.reserve(1.0, slots)
        second = asyncio.create_task(budget.reserve(1.0, slots))
        await asyncio.sleep(0.01)
        assert not second.done()
        budget.settle(1.0, 0.1)
        assert await asyncio.wait_for(second, 5)
        assert not budget.used_up
        third = asyncio.create_task(budget.reserve(1.0, slots))
        budget.settle(1.0, 1.0)
        assert not await asyncio.wait_for(third, 5)
        assert budget.used_up
        assert budget.spent == pytest.approx(1.1)

    asyncio.run(body())


def test_nothing_is_reserved_for_a_model_that_was_stopped_meanwhile():
    async def body() -> None:
        slots, budget = Slots(4), Budget(1.5, "EUR")
        assert await budget.reserve(1.0, slots)
        second = asyncio.create_task(budget.reserve(1.0, slots))
        await asyncio.sleep(0.01)
        slots.stop()
        budget.settle(1.0, 0.1)
        assert not await asyncio.wait_for(second, 5)
        assert not budget.used_up

    asyncio.run(body())


def test_an_answer_dearer_than_expected_is_expected_from_then_on():
    estimator = CostEstimator({"endpoint": "e", "model": "served", "max_tokens": "1"}, PRICES)
    assert estimator.expected_cost(REQUEST) < 0.001
    usage = Usage(input_tokens=500_000, output_tokens=0)
    charged, uncounted = estimator.charged(REQUEST, Answer(text="", usage=usage), 0.0, Usage())
    assert (charged, uncounted) == (pytest.approx(1), Usage())
    assert estimator.expected_cost(REQUEST) == pytest.approx(1)


def test_a_model_on_this_machine_costs_nothing():
    estimator = CostEstimator({"kind": "ppocr"}, PRICES)
    assert not estimator.paid
    assert estimator.cost(Usage(input_tokens=10**6)) == 0
    unlimited = CostEstimator({"endpoint": "e"}).expected(REQUEST)
    assert (unlimited.input_tokens, unlimited.output_tokens) == (4, UNLIMITED_OUTPUT)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"max_cost": 1}, "--max-cost needs a price file"),
        ({"max_cost": -1, "prices": PRICES}, "--max-cost must be 0 or more"),
        ({"max_cost": float("nan"), "prices": PRICES}, "--max-cost must be 0 or more, not nan"),
        ({"max_cost": 1, "prices": Prices(currency="X")}, f"no price for {MODEL}"),
        ({"per_minute": 0}, "--per-minute must be more than 0"),
        ({"per_minute": float("inf")}, "--per-minute must be more than 0"),
    ],
)
def test_wrong_limits_are_refused_before_anything_is_written(
    chat: Chat, dataset: Path, out: Path, policy: dict[str, object], words: str
):
    with pytest.raises(UsageError, match=words):
        go(dataset, out, chat, **policy)
    assert not (out / "run.json").exists()


def test_the_command_prints_what_is_left_and_ends_with_1(
    chat: Chat, dataset: Path, out: Path, tmp_path: Path
):
    chat.plan()
    prices = tmp_path / "prices.toml"
    prices.write_text(
        'currency = "EUR"\n[[models]]\nnames = ["served"]\ninput = 2.0\noutput = 10.0\n', "utf-8"
    )
    command = run_command(dataset, out, chat)[3:]
    done = keju(*command, "--max-cost", "0.03", "--prices", prices)
    assert done.returncode == 1
    assert "Stopped: the limit --max-cost 0.03 EUR is reached" in done.stdout
    assert " without a response yet. Run the same command with a higher --max-cost" in done.stdout
    assert done.stderr.count("Traceback") == 0


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -1_000_000_000, "completion_tokens": -12},
        {"prompt_tokens": 10**30, "completion_tokens": 10**30},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 12.5, "completion_tokens": "many"},
        {"prompt_tokens": True, "completion_tokens": -1},
    ],
)
def test_token_counts_that_cannot_be_right_are_estimated(
    chat: Chat, dataset: Path, out: Path, usage: dict[str, object]
):
    chat.plan(usage=usage)
    budget = {"max_cost": 0.05, "prices": PRICES}
    summary = go(dataset, out, chat, **budget)
    assert summary.used_up.startswith("the limit --max-cost 0.05")
    assert 0 < stored(out) < 6
    assert 0.01 < summary.cost <= 0.05
    for response in RunFolder.open(out).responses():
        assert response.usage.input_tokens is None
        assert response.uncounted.input_tokens > 0
    again = go(dataset, out, chat, **budget)
    assert (again.models[0].asked, again.cost) == (0, pytest.approx(summary.cost))
