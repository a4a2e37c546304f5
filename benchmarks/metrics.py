"""Speed of scoring: ratios to straightforward textbook loops, measured in this one run.

    python -m benchmarks.metrics

Texts have the mean answer lengths that MCS-Bench prints (Table 5). CPU seconds, one thread.
"""

from __future__ import annotations

import json
import random
import re
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from keju.benchmarks.mcs_bench.metrics import anls
from keju.benchmarks.mcs_bench.script import official_edits
from keju.definitions import task, tasks
from keju.items import Item, Response
from keju.metrics import error_parts, normalised_distance, rouge_l
from keju.scoring import PROTOCOLS, aggregate, score_answer
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import ScoringSample

SUPPORT = Path(__file__).resolve().parents[1] / "tests" / "support"
LENGTHS: dict[str, int] = json.loads((SUPPORT / "answer_lengths.json").read_text("utf-8"))
LOOP = 2048
CLASSICAL = {"T1", "T3", "T4", "T8", "T26", "T28", "T30", "T37"}
PASSAGES = Path(__file__).resolve().parents[1] / "tests" / "scoring" / "passages.json"
CLAUSES = [
    clause
    for passage in json.loads(PASSAGES.read_text("utf-8"))
    for clause in re.findall(r"\w+", passage)
]
MODERN = re.findall(
    r"[^，。]+",
    "孔子说学了知识又能时常温习，不也是一件令人愉快的事情吗。有志同道合的人从远方来拜访，大家都很高兴。"
    "北方的大海里有一条鱼，它的名字叫做鲲。鲲的身体非常巨大，不知道有几千里长。它变化成为鸟，名字就叫做鹏。"
    "当它奋起而飞的时候，展开的翅膀就像天边的云彩。永和九年三月初三，各位名士在会稽郡山阴县的兰亭聚会。"
    "这里有高大的山岭，茂盛的树林和修长的竹子。武陵郡有一个以打鱼为生的人，有一天他沿着小溪划船前行。"
    "忽然遇到一片桃花林，两岸几百步之内没有别的树木。渔人感到十分惊奇，想要走到这片树林的尽头。",
)
ALPHABET = sorted(set("".join(CLAUSES)))

Pairs = Sequence[tuple[str, str]]


def main() -> None:
    draw = random.Random(1)
    print(f"{'metric':<28}{'length':>7}{'ours ms':>10}{'loops ms':>10}{'ratio':>8}{'goal':>6}")
    goals: list[
        tuple[str, int, int, Callable[[str, str], object], Callable[[str, str], object]]
    ] = [
        ("AR, CR (S, D, I)", 359, 40, official_edits, loops_edits),
        ("NED", 359, 300, normalised_distance, loops_ned),
        ("ANLS", 515, 300, anls, loops_ned),
        ("ROUGE-L", 468, 60, rouge_l, loops_rouge_l),
    ]
    for name, length, goal, ours, loops in goals:
        pairs = [read(draw, text(draw, length)) for _ in range(12)]
        fast = cost(ours, pairs, 20)
        slow = cost(loops, pairs[:4], 1)
        print(f"{name:<28}{length:>7}{fast:>10.3f}{slow:>10.1f}{slow / fast:>8.0f}{goal:>6}")
    fast = cost(error_parts, [read(draw, text(draw, 360)) for _ in range(12)], 20)
    print(f"{'recognition and layout error':<28}{360:>7}{fast:>10.3f}")
    whole_benchmark(draw)


def whole_benchmark(draw: random.Random) -> None:
    """One model on all 6,500 items, 8 in 100 answers a loop of 2,048 characters."""
    pairs = list(answers(draw))
    warm = pairs[0]
    score_answer(*warm)
    score_answer(*next(pair for pair in pairs if pair[0].task == "T2"))
    for protocols in (("official",), ("strict",), PROTOCOLS):
        start = time.process_time()
        scores = score_samples((ScoringSample(*pair) for pair in pairs), protocols)
        scored = time.process_time()
        aggregate(scores)
        done = time.process_time()
        print(
            f"{' and '.join(protocols)}: {len(pairs):,} answers scored in {scored - start:.2f} "
            f"CPU s, aggregated in {done - scored:.2f}"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"peak memory {peak:.0f} MB; whole process {time.process_time():.2f} CPU s, loops included"
    )


def answers(draw: random.Random) -> list[tuple[Item, Response]]:
    pairs = []
    for each in tasks():
        if each.benchmark != "MCS-Bench":
            continue
        for number in range(each.count):
            truth = truth_of(draw, each.id)
            _, said = read(draw, truth)
            if draw.random() < 0.08:
                said = (said[:9] * LOOP)[:LOOP] or "的" * LOOP
            item = Item(
                id=str(number),
                benchmark=each.benchmark,
                task=each.id,
                answer=truth,
                answer_simplified=truth,
            )
            response = Response(
                key=f"{each.id}/{number}",
                item=item.id,
                model="m",
                benchmark=each.benchmark,
                task=each.id,
                status="answered",
                text=said,
            )
            pairs.append((item, response))
    return pairs


def truth_of(draw: random.Random, task_id: str) -> str:
    if task(task_id).queries[0].form == "letter":
        return draw.choice("ABCD")
    length = max(1, round(LENGTHS[task_id] * draw.uniform(0.6, 1.4)))
    plain = text(draw, length, CLAUSES if task_id in CLASSICAL else MODERN)
    if task_id == "T4":
        return "、".join(plain[start : start + 3] for start in range(0, length, 3))
    return plain if length < 30 else "，".join(plain[k : k + 14] for k in range(0, length, 14))


def text(draw: random.Random, length: int, clauses: Sequence[str] = CLAUSES) -> str:
    return "".join(draw.choices(clauses, k=length // 3 + 1))[:length]


def read(draw: random.Random, truth: str) -> tuple[str, str]:
    """The truth, and a reading of it with a fifth of the characters wrong, lost or added."""
    said = []
    for char in truth:
        chance = draw.random()
        if chance > 0.2:
            said.append(char)
        elif chance > 0.1:
            said.append(draw.choice(ALPHABET))
        elif chance > 0.05:
            said.append(char + draw.choice(ALPHABET))
    return truth, "".join(said)


def cost(measure: Callable[[str, str], object], pairs: Pairs, repeats: int) -> float:
    """CPU milliseconds a pair."""
    start = time.process_time()
    for _ in range(repeats):
        for pair in pairs:
            measure(*pair)
    return (time.process_time() - start) * 1000 / repeats / len(pairs)


def loops_matrix(reference: str, hypothesis: str) -> list[list[int]]:
    costs = [[0] * (len(hypothesis) + 1) for _ in range(len(reference) + 1)]
    for i in range(len(reference) + 1):
        costs[i][0] = i
    for j in range(len(hypothesis) + 1):
        costs[0][j] = j
    for i in range(1, len(reference) + 1):
        for j in range(1, len(hypothesis) + 1):
            if reference[i - 1] == hypothesis[j - 1]:
                costs[i][j] = costs[i - 1][j - 1]
            else:
                costs[i][j] = min(costs[i - 1][j - 1], costs[i - 1][j], costs[i][j - 1]) + 1
    return costs


def loops_edits(reference: str, hypothesis: str) -> tuple[int, int, int]:
    costs = loops_matrix(reference, hypothesis)
    i, j = len(reference), len(hypothesis)
    substitutions = deletions = insertions = 0
    while i > 0 or j > 0:
        if i and j and reference[i - 1] == hypothesis[j - 1]:
            i, j = i - 1, j - 1
        elif i and j and costs[i][j] == costs[i - 1][j - 1] + 1:
            substitutions, i, j = substitutions + 1, i - 1, j - 1
        elif i and costs[i][j] == costs[i - 1][j] + 1:
            deletions, i = deletions + 1, i - 1
        else:
            insertions, j = insertions + 1, j - 1
    return substitutions, deletions, insertions


def loops_ned(reference: str, hypothesis: str) -> float:
    return loops_matrix(reference, hypothesis)[-1][-1] / max(len(reference), len(hypothesis))


def loops_rouge_l(reference: str, hypothesis: str) -> int:
    lengths = [[0] * (len(hypothesis) + 1) for _ in range(len(reference) + 1)]
    for i in range(1, len(reference) + 1):
        for j in range(1, len(hypothesis) + 1):
            if reference[i - 1] == hypothesis[j - 1]:
                lengths[i][j] = lengths[i - 1][j - 1] + 1
            else:
                lengths[i][j] = max(lengths[i - 1][j], lengths[i][j - 1])
    return lengths[-1][-1]


if __name__ == "__main__":
    main()
