"""What the MCS-Bench authors' script computes, written out slowly from its rules.

For tests only, and apart from keju's own code: DESIGN section 4 and the study of the metrics are
the source. Every function takes the true answer and the response as JSON has them and raises the
script's own kind of error (`STOPS`) where the script stops; `ABSENT` is a key that is not there.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jieba
    import zhconv
from nltk.translate.bleu_score import SmoothingFunction
from nltk.translate.bleu_score import sentence_bleu as nltk_bleu

from tests.support.naive import lcs, matrix

ABSENT = object()
STOPS = (KeyError, TypeError, AttributeError, ZeroDivisionError, IndexError)


def values(form, task, answer, response):
    """Every metric of a task's script but those of the encoder; an error in place of a value."""
    rules = {"transcription": OCR, "letter": ACC, "short": ACC, "punctuated": MARKED,
             "entities": NAMED}.get(form, TRANSLATED if task == "T2" else OPEN)  # fmt: skip
    found = {}
    for names, rule in rules:
        try:
            made = rule(answer, response)
        except STOPS as error:
            made = (error,) * len(names)
        found.update(zip(names, made, strict=True))
    return found


def there(value):
    """``item[KEY]``."""
    if value is ABSENT:
        raise KeyError
    return value


def or_empty(value):
    """``item.get(KEY, "")``."""
    return "" if value is ABSENT else value


def clean(value):
    if not isinstance(value, str):
        raise TypeError
    return "".join(c for c in value if "\u4e00" <= c <= "\u9fff" or re.match(r"\w", c))


def convert(value):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return zhconv.convert(value, "zh-cn")


def text(value):
    """What only a text can do: replace, split, be cut into words."""
    if not isinstance(value, str):
        raise AttributeError  # noqa: TRY004 - as the script does
    return value


def f1(precision, recall):
    total = precision + recall
    return 2 * precision * recall / total if total > 0 else 0


def accuracy(answer, response):
    said = convert(clean(there(response)))
    return (float(there(answer) in said),)


def rates(answer, response):
    truth, said = clean(or_empty(answer)), convert(clean(or_empty(response)))
    if not truth:
        return 0.0, 0.0
    costs = matrix(truth, said)
    i, j, wrong, inserted = len(truth), len(said), 0, 0
    while i or j:
        if i and j and truth[i - 1] == said[j - 1]:
            i, j = i - 1, j - 1
        elif i and j and costs[i][j] == costs[i - 1][j - 1] + 1:
            wrong, i, j = wrong + 1, i - 1, j - 1
        elif i and costs[i][j] == costs[i - 1][j] + 1:
            wrong, i = wrong + 1, i - 1
        else:
            inserted, j = inserted + 1, j - 1
    return (len(truth) - wrong - inserted) / len(truth), (len(truth) - wrong) / len(truth)


def edit_distance(answer, response):
    said, truth = convert(clean(or_empty(response))), clean(or_empty(answer))
    return (matrix(truth, said)[-1][-1] / max(len(said), len(truth)),)


def sets(answer, response):
    truth, said = set(clean(there(answer))), set(convert(clean(there(response))))
    if not truth:
        raise TypeError  # a recall of None is summed
    both = len(truth & said)
    precision, recall = both / len(said) if said else 0.0, both / len(truth)
    harmonic = 1 / (0.5 / precision + 0.5 / recall) if both else 0.0
    return harmonic, precision, recall


def bleu(reference, hypothesis, method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        smoothing = getattr(SmoothingFunction(), method)
        return float(nltk_bleu([reference], hypothesis, smoothing_function=smoothing))


def ocr_bleu(answer, response):
    truth, said = clean(there(answer)), convert(clean(there(response)))
    return (bleu(list(truth), list(said), "method1"),)


def word_bleu(answer, response):
    truth, said = there(answer), convert(there(response))
    return (bleu(list(jieba.cut(text(truth))), list(jieba.cut(said)), "method4"),)


def rouge(answer, response):
    truth = text(there(answer)).replace(" ", "")
    said = convert(text(there(response)).replace(" ", ""))
    found = []
    for size in (1, 2):
        wanted, given = (Counter(t[i : i + size] for i in range(len(t) - size + 1))
                         for t in (truth, said))  # fmt: skip
        both = (wanted & given).total()
        found.append(
            f1(both / given.total() if given else 0, both / wanted.total() if wanted else 0)
        )
    both = lcs(truth, said)
    found.append(f1(both / len(said) if said else 0, both / len(truth) if truth else 0))
    return tuple(found)


def marks(value):
    kept = re.compile("[a-zA-Z0-9\u4e00-\u9fa5]")
    return [value[i - 1] + value[i] for i in range(len(value)) if not kept.match(value[i])]


def punctuation(answer, response):
    given, wanted = marks(convert(there(response))), marks(text(there(answer)))
    right = sum(pair in wanted for pair in given)
    precision, recall = right / len(given) if given else 0, right / len(wanted) if wanted else 0
    return f1(precision, recall), precision, recall


def names(answer, response):
    said = convert(there(response))
    given, wanted = set(said.strip().split("、")), set(text(there(answer)).split("、"))
    precision, recall = len(given & wanted) / len(given), len(given & wanted) / len(wanted)
    return f1(precision, recall), precision, recall


def anls(answer, response):
    truth, said = there(answer), convert(there(response))
    longer = max(len(truth), len(said))
    return (1.0 if longer == 0 else 1 - matrix(truth, said)[-1][-1] / longer,)


OCR = [
    (("AR", "CR"), rates),
    (("Edit_Distance",), edit_distance),
    (("F1", "Precision", "Recall"), sets),
    (("BLEU",), ocr_bleu),
]
ACC = [(("Acc",), accuracy)]
TRANSLATED = [(("BLEU",), word_bleu), (("ROUGE-1", "ROUGE-2", "ROUGE-L"), rouge)]
MARKED = [(("F1", "Precision", "Recall"), punctuation)]
NAMED = [(("F1", "Precision", "Recall"), names)]
OPEN = [(("ANLS",), anls)]
