"""Both protocols, as data: which function computes which metric of which answer form.

The catalogue says which metrics a query has; here each name is bound. A metric of the catalogue
that is bound to nothing is unscored, with the reason that `unavailable` gives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from keju import __version__
from keju.benchmarks import official_source
from keju.benchmarks.wordings import RELEASED
from keju.items import AnswerForm, Protocol
from keju.scoring import official, recognition, strict
from keju.scoring.case import Case
from keju.scoring.measured import Measured
from keju.text import normalisation_signature

Measure = Callable[[Case], Measured]


class Binding(NamedTuple):
    """A metric bound to the function that computes it.

    `text` names the preparation of the texts, which rules.toml describes. `worst` is what
    a failure is worth; for unbounded errors it is what an empty answer earns: 1, of which all is
    recognition and nothing layout.
    """

    measure: Measure
    text: str
    worst: float = 0.0
    higher_is_better: bool = True


_AS_IT_IS = frozenset(
    {"one letter", "first-yes-no", "yes-no", "one-number", "one-probability", "boxes", "answer"}
)
"""Preparations that take the answer out and change nothing in it."""

_MCS, _ANCIENT, _OBI = "MCS-Bench", "AncientDoc", "OBI-Bench"
_Key = tuple[Protocol, str, AnswerForm, str]

_BINDINGS: dict[_Key, Binding] = {
    ("official", _MCS, "transcription", "AR"): Binding(official.accurate, "clean>convert"),
    ("official", _MCS, "transcription", "CR"): Binding(official.correct, "clean>convert"),
    ("official", _MCS, "transcription", "Edit_Distance"): Binding(
        official.edit_distance, "clean>convert", worst=1.0, higher_is_better=False
    ),
    ("official", _MCS, "transcription", "F1"): Binding(official.set_f1, "clean>convert"),
    ("official", _MCS, "transcription", "Precision"): Binding(
        official.set_precision, "clean>convert"
    ),
    ("official", _MCS, "transcription", "Recall"): Binding(official.set_recall, "clean>convert"),
    ("official", _MCS, "transcription", "BLEU"): Binding(
        official.bleu_of_characters, "clean>convert>chars"
    ),
    ("official", _MCS, "text", "BLEU"): Binding(official.bleu_of_words, "convert>jieba"),
    ("official", _MCS, "text", "ROUGE-1"): Binding(official.rouge_1, "convert>chars"),
    ("official", _MCS, "text", "ROUGE-2"): Binding(official.rouge_2, "convert>chars"),
    ("official", _MCS, "text", "ROUGE-L"): Binding(official.rouge_longest, "convert>chars"),
    ("official", _MCS, "text", "ANLS"): Binding(official.anls, "convert"),
    ("official", _MCS, "punctuated", "F1"): Binding(official.punctuation_f1, "convert"),
    ("official", _MCS, "punctuated", "Precision"): Binding(
        official.punctuation_precision, "convert"
    ),
    ("official", _MCS, "punctuated", "Recall"): Binding(official.punctuation_recall, "convert"),
    ("official", _MCS, "entities", "F1"): Binding(official.entities_f1, "convert"),
    ("official", _MCS, "entities", "Precision"): Binding(official.entities_precision, "convert"),
    ("official", _MCS, "entities", "Recall"): Binding(official.entities_recall, "convert"),
    ("official", _MCS, "letter", "Acc"): Binding(official.contained, "clean>convert"),
    ("official", _MCS, "short", "Acc"): Binding(official.contained, "clean>convert"),
    ("official", _ANCIENT, "transcription", "CER"): Binding(
        official.error_rate, "raw", worst=1.0, higher_is_better=False
    ),
    ("official", _ANCIENT, "transcription", "CharPrecision"): Binding(
        official.position_precision, "raw"
    ),
    ("official", _ANCIENT, "transcription", "CharRecall"): Binding(official.position_recall, "raw"),
    ("official", _ANCIENT, "transcription", "CharF1"): Binding(official.position_f1, "raw"),
    ("official", _ANCIENT, "text", "chrF++"): Binding(official.chrf_plus_plus, "raw+words"),
    ("official", _OBI, "yes-no", "Acc"): Binding(recognition.accuracy, "first-yes-no"),
    ("official", _OBI, "number", "MRE"): Binding(
        recognition.official_count_error, "one-number", worst=1.0, higher_is_better=False
    ),
    ("official", _OBI, "boxes", "mIoU"): Binding(recognition.official_mean_overlap, "boxes"),
    ("strict", "", "yes-no", "BalancedAcc"): Binding(recognition.balanced, "yes-no"),
    ("strict", "", "number", "CountAcc"): Binding(recognition.count_accuracy, "one-number"),
    ("strict", "", "number", "MedRE"): Binding(
        recognition.count_error, "one-number", worst=1.0, higher_is_better=False
    ),
    ("strict", "", "boxes", "mIoU"): Binding(recognition.mean_overlap, "boxes"),
    ("strict", "", "boxes", "F1_IoU"): Binding(recognition.overlap_f1, "boxes"),
    ("strict", "", "transcription", "CharAcc"): Binding(strict.character_accuracy, "counted"),
    ("strict", "", "transcription", "CER"): Binding(
        strict.error_rate, "counted", worst=1.0, higher_is_better=False
    ),
    ("strict", "", "transcription", "CER_recognition"): Binding(
        strict.recognition_error, "counted", worst=1.0, higher_is_better=False
    ),
    ("strict", "", "transcription", "CER_layout"): Binding(
        strict.layout_error, "counted", higher_is_better=False
    ),
    ("strict", "", "transcription", "FlexCharAcc"): Binding(
        strict.flexible_accuracy, "counted lines"
    ),
    ("strict", "", "transcription", "F1"): Binding(strict.aligned_f1, "counted"),
    ("strict", "", "transcription", "Precision"): Binding(strict.aligned_precision, "counted"),
    ("strict", "", "transcription", "Recall"): Binding(strict.aligned_recall, "counted"),
    ("strict", "", "letter", "Acc"): Binding(strict.right_letter, "one letter"),
    ("strict", "", "letter", "Acc_chance_corrected"): Binding(
        strict.right_letter_above_chance, "one letter"
    ),
    ("strict", "", "short", "ExactMatch"): Binding(strict.exact_match, "counted"),
    ("strict", "", "punctuated", "F1"): Binding(strict.marks_f1, "script"),
    ("strict", "", "punctuated", "Precision"): Binding(strict.marks_precision, "script"),
    ("strict", "", "punctuated", "Recall"): Binding(strict.marks_recall, "script"),
    ("strict", "", "punctuated", "F1_macro"): Binding(strict.marks_f1_macro, "script"),
    ("strict", "", "entities", "F1"): Binding(strict.names_f1, "counted"),
    ("strict", "", "entities", "Precision"): Binding(strict.names_precision, "counted"),
    ("strict", "", "entities", "Recall"): Binding(strict.names_recall, "counted"),
    ("strict", "", "entities", "F1_macro"): Binding(strict.names_f1_macro, "counted"),
    ("strict", "", "text", "chrF"): Binding(strict.chrf_of_characters, "script>chars-2-6"),
    ("strict", "", "text", "BLEU_char"): Binding(strict.bleu_of_characters, "script>chars"),
}


def binding_of(protocol: Protocol, benchmark: str, form: AnswerForm, metric: str) -> Binding | None:
    """The binding of a metric of the catalogue, or None where keju computes none."""
    benchmark = official_source(benchmark)
    return _BINDINGS.get((protocol, benchmark, form, metric)) or _BINDINGS.get(
        (protocol, "", form, metric)
    )


def unavailable(metric: str) -> str:
    """Why a metric of the catalogue that is bound to nothing has no value."""
    return f"keju {__version__} does not compute {metric} yet"


@cache
def signature(
    protocol: Protocol, metric: str, text: str, encoder: str = "", *, label: str = ""
) -> str:
    """Metric, protocol, preparation of the texts, encoder and version, for each number.

    A `label` takes the protocol's place, for what is a number of neither.
    """
    parts = [metric, label or protocol, f"text:{_preparation(protocol, text)}"]
    return "|".join([*parts, *([f"encoder:{encoder}"] if encoder else []), f"keju:{__version__}"])


def wording_part(wording: str) -> str:
    """What a signature says of a prompt wording; nothing of the released one."""
    return "" if wording == RELEASED else f"|wording:{wording}"


def _preparation(protocol: Protocol, text: str) -> str:
    if text in _AS_IT_IS:
        return text
    if protocol == "strict":
        return f"{text}+{normalisation_signature('script')}"
    steps = text.replace("convert", f"convert(response,zhconv-{_version('zhconv')}-zh-cn)")
    return steps.replace("jieba", f"jieba-{_version('jieba')}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
