"""What a run may take: it stops before more is sent, says why, and goes on when told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keju.cli.output.run_summary import trouble_lines, usage_lines
from keju.errors import UsageError
from keju.items import Request, Usage
from keju.models import ModelOptions
from keju.running import Budget, RateLimits, RunSummary, Selection, run
from keju.running.budget import UNLIMITED_OUTPUT, BudgetTracker, CostEstimator
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


def test_no_more_requests_are_sent_than_allowed_and_all_that_was_sent_is_kept(
    chat: Chat, dataset: Path, out: Path
):
    chat.plan(delay=0.01)
    summary = go(dataset, out, chat, budget=Budget(max_requests=7))
    assert chat.stats()["requests"] == stored(out) == 7
    assert (summary.left, summary.complete, summary.interrupted) == (13, False, False)
    assert summary.used_up == "the limit --max-requests 7 is reached"
    assert summary.advice == "Run the same command again to continue"
    assert go(dataset, out, chat, budget=Budget(max_requests=13)).complete
    assert chat.stats()["requests"] == ITEMS


def test_repeated_attempts_are_requests_too(chat: Chat, dataset: Path, out: Path):
    chat.plan(modes=["500"], times=2)
    summary = go(dataset, out, chat, budget=Budget(max_requests=10))
    assert chat.stats()["requests"] == 10
    assert summary.left == ITEMS - stored(out) > 0


def test_why_requests_were_sent_again_is_said_though_the_budget_ended_first(
    chat: Chat, dataset: Path, out: Path
):
    chat.plan(modes=["500"], times=50)
    summary = go(dataset, out, chat, budget=Budget(max_requests=3))
    assert stored(out) == 0
    ((kind, message),) = summary.models[0].trouble.items()
    assert kind == "server"
    assert "500" in message
    (line,) = trouble_lines(summary)
    assert line.startswith(
        f"{summary.models[0].model}: stopped while sending requests again after server: "
    )


def test_a_budget_that_is_just_enough_leaves_nothing(chat: Chat, dataset: Path, out: Path):
    chat.plan()
    summary = go(dataset, out, chat, budget=Budget(max_requests=ITEMS))
    assert summary.complete
    assert summary.used_up == ""


def test_money_is_never_overspent_and_the_same_command_again_spends_nothing(
    chat: Chat, dataset: Path, out: Path
):
    chat.plan(delay=0.01)
    most = Budget(max_cost=0.03, prices=PRICES)
    summary = go(dataset, out, chat, budget=most)
    # One more of what may be written at most would have gone beyond it.
    expected = CostEstimator({"endpoint": "e", "model": "served"}, PRICES)
    assert summary.cost == pytest.approx(stored(out) * EACH)
    assert summary.cost <= 0.03 < summary.cost + expected.cost(expected.expected(REQUEST)) + EACH
    assert summary.used_up.startswith("the limit --max-cost 0.03 EUR is reached: ")
    assert "higher --max-cost" in summary.advice
    sent = chat.stats()["requests"]
    assert go(dataset, out, chat, budget=most).used_up
    assert chat.stats()["requests"] == sent == stored(out)
    done = go(dataset, out, chat, budget=Budget(max_cost=1, prices=PRICES))
    assert done.complete
    assert done.cost == pytest.approx(ITEMS * EACH)


def test_money_is_counted_where_it_is_not_limited(chat: Chat, dataset: Path, out: Path):
    chat.plan()
    summary = go(dataset, out, chat, limit=3, budget=Budget(prices=PRICES))
    assert summary.cost == pytest.approx(3 * EACH)


def test_what_failed_and_may_be_paid_for_is_counted():
    async def body() -> None:
        estimator = CostEstimator({"endpoint": "e", "model": "served", "max_tokens": "100"}, PRICES)
        each = estimator.cost(estimator.expected(REQUEST))
        assert each == pytest.approx(4 * 2e-6 + 100 * 10e-6)
        tracker = BudgetTracker(Budget(max_cost=2.5 * each, prices=PRICES))
        for kind, spent in (("rate", 0), ("server", 0), ("timeout", 1), ("bad-response", 2)):
            taken = await tracker.take(estimator, REQUEST, lambda: True)
            tracker.release(taken, kind)
            assert tracker.spent == pytest.approx(spent * each)
        assert await tracker.take(estimator, REQUEST, lambda: True) is None
        assert tracker.used_up

    asyncio.run(body())


def test_what_may_have_been_paid_for_is_remembered_by_the_next_call(
    chat: Chat, dataset: Path, out: Path
):
    # Two replies that cannot be read, then an answer; the server counted only the last.
    chat.plan(modes=["truncated-json"], times=2)
    budget = Budget(max_cost=1, prices=PRICES)
    first = go(dataset, out, chat, limit=3, budget=budget)
    responses = list(RunFolder.open(out).responses())
    assert [each.attempts for each in responses] == [3, 3, 3]
    price = PRICES.price("served")
    unseen = sum(
        price.of(each.uncounted.input_tokens, each.uncounted.output_tokens) for each in responses
    )
    assert all(each.uncounted.output_tokens == 2 * UNLIMITED_OUTPUT for each in responses)
    # An attempt is set aside at the dearest answer so far if that is more, so never for less.
    assert first.cost >= unseen + 3 * EACH - 1e-12
    again = go(dataset, out, chat, limit=3, budget=budget)
    assert again.cost == pytest.approx(unseen + 3 * EACH)


def test_requests_wait_until_it_is_known_what_those_in_flight_cost():
    async def body() -> None:
        estimator = CostEstimator({"endpoint": "e", "model": "served"}, PRICES)
        each = estimator.cost(estimator.expected(REQUEST))
        tracker = BudgetTracker(Budget(max_cost=1.5 * each, prices=PRICES))
        first = await tracker.take(estimator, REQUEST, lambda: True)
        second = asyncio.create_task(tracker.take(estimator, REQUEST, lambda: True))
        await asyncio.sleep(0.01)
        assert not second.done()
        tracker.settle(first, estimator, Usage(input_tokens=1, output_tokens=1))
        assert await asyncio.wait_for(second, 5) is not None
        assert not tracker.used_up

    asyncio.run(body())


def test_an_answer_dearer_than_expected_is_expected_from_then_on():
    async def body() -> None:
        estimator = CostEstimator({"endpoint": "e", "model": "served", "max_tokens": "1"}, PRICES)
        tracker = BudgetTracker(Budget(max_cost=1.5, prices=PRICES))
        first = await tracker.take(estimator, REQUEST, lambda: True)
        tracker.settle(first, estimator, Usage(input_tokens=500_000, output_tokens=0))
        assert tracker.spent == pytest.approx(1)
        assert await tracker.take(estimator, REQUEST, lambda: True) is None

    asyncio.run(body())


def test_when_the_hours_are_over_nothing_more_is_sent(chat: Chat, dataset: Path, out: Path):
    chat.plan(delay=0.2)
    summary = go(dataset, out, chat, concurrency=1, budget=Budget(max_hours=0.3 / 3600))
    assert summary.used_up.startswith("the limit --max-hours ")
    assert stored(out) == chat.stats()["requests"] == ITEMS - summary.left < ITEMS
    again = go(dataset, out, chat, budget=Budget(max_hours=0))
    assert again.left == summary.left


def test_a_wait_for_a_server_ends_with_the_hours(chat: Chat, dataset: Path, out: Path):
    chat.plan(modes=["429-after"], times=-1, after="600")
    summary = go(dataset, out, chat, budget=Budget(max_hours=0.5 / 3600))
    assert summary.left == ITEMS


def test_a_model_on_this_machine_costs_nothing():
    estimator = CostEstimator({"kind": "ppocr"}, PRICES)
    assert not estimator.paid
    assert estimator.cost(Usage(input_tokens=10**6)) == 0
    unlimited = CostEstimator({"endpoint": "e"}).expected(REQUEST)
    assert (unlimited.input_tokens, unlimited.output_tokens) == (4, UNLIMITED_OUTPUT)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"budget": Budget(max_cost=1)}, "--max-cost needs a price file"),
        ({"budget": Budget(max_cost=-1, prices=PRICES)}, "--max-cost must be 0 or more"),
        ({"budget": Budget(max_hours=float("nan"))}, "--max-hours must be 0 or more, not nan"),
        ({"budget": Budget(max_cost=1, prices=Prices(currency="X"))}, f"no price for {MODEL}"),
        ({"limits": RateLimits(requests=0)}, "--per-minute must be more than 0"),
        ({"limits": RateLimits(tokens=float("inf"))}, "--tokens-per-minute must be more than 0"),
    ],
)
def test_wrong_limits_are_refused_before_anything_is_written(
    chat: Chat, dataset: Path, out: Path, policy: dict[str, object], words: str
):
    with pytest.raises(UsageError, match=words):
        go(dataset, out, chat, **policy)
    assert not (out / "run.json").exists()


def test_the_command_says_what_is_left_and_ends_with_1(chat: Chat, dataset: Path, out: Path):
    chat.plan()
    done = keju(*run_command(dataset, out, chat)[3:], "--max-requests", "5")
    assert done.returncode == 1
    assert "Stopped: the limit --max-requests 5 is reached" in done.stdout
    assert "15 without a response yet. Run the same command again to continue" in done.stdout
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
def test_token_counts_that_cannot_be_right_are_reported_and_estimated(
    chat: Chat, dataset: Path, out: Path, usage: dict[str, object]
):
    chat.plan(usage=usage)
    budget = Budget(max_cost=0.05, prices=PRICES)
    summary = go(dataset, out, chat, budget=budget)
    assert summary.used_up.startswith("the limit --max-cost 0.05")
    assert 0 < stored(out) < 6
    assert 0.01 < summary.cost <= 0.05
    assert len(summary.models[0].ignored_usage) == stored(out)
    assert "prompt_tokens" in next(usage_lines(summary))
    for response in RunFolder.open(out).responses():
        assert response.usage.input_tokens is None
        assert response.uncounted.input_tokens > 0
    again = go(dataset, out, chat, budget=budget)
    assert (again.models[0].asked, again.cost) == (0, pytest.approx(summary.cost))


def test_a_whole_number_written_with_a_point_is_a_count(chat: Chat, dataset: Path, out: Path):
    chat.plan(usage={"prompt_tokens": 1000.0, "completion_tokens": 12})
    summary = go(dataset, out, chat, limit=1, budget=Budget(prices=PRICES))
    assert summary.cost == pytest.approx(EACH)
    assert summary.models[0].ignored_usage == ()
