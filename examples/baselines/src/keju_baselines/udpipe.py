"""Model ``udpipe``: punctuation and names from a UDPipe model of Classical Chinese, offline."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import keju
from keju.plugins import Answer, AskError, Model, ModelOptions, Request, _, add_translations

add_translations(Path(__file__).with_name("keju-baselines.mo"))

_FILE = "ud-kanbun.udpipe"
_SAYS = ("曰", "云")
_FAMILY, _GIVEN = "Sur", "Giv"
_NAMES = "NameType="


class Word(NamedTuple):
    """A word, and the kind of name it is (``Sur``, ``Giv``, ``Prs``, ``Geo``, ``Nat``), if any."""

    form: str
    name: str = ""


@keju.model(
    "udpipe",
    summary="clauses and names of a text given or read before, by UDPipe",
    role="baseline",
    local=True,
    packages=("ufal.udpipe", "udkanbun"),
    install='pip install "ufal.udpipe>=1.4" "udkanbun==3.4.9"',
)
class UDPipe(Model):
    """Divides a text into clauses, or lists its names, with the model in the udkanbun package.

    The model (UDPipe, trained on UD Classical Chinese Kyoto) is read from the package's file; none
    of the package's own code is run. It predicts where clauses end, but not the mark: every clause
    gets ， but 曰 and 云 get ： and the last clause gets 。. Names are its proper nouns (NameType),
    a family name joined with the given name after it, each once.

    The text is supplied by the setting or transcribed by an engine before.
    """

    def __init__(self, options: ModelOptions) -> None:
        del options
        # Found, not imported: the model is all that is used of the package.
        self._file = Path(find_spec("udkanbun").origin).with_name(_FILE)

    @property
    def identity(self) -> dict[str, str]:
        """The versions of the packages, and the hash of the model."""
        packages = {name: version(name) for name in ("ufal.udpipe", "udkanbun")}
        return {**packages, "model": hashlib.sha256(self._file.read_bytes()).hexdigest()}

    def unsupported_reason(self, request: Request) -> str:
        """Supports only punctuation and names of a given text."""
        if request.form not in {"punctuated", "entities"}:
            return _("udpipe only punctuates and finds names")
        if not request.source and request.setting not in {"gold-text", "gold-ocr"}:
            return _("it needs a text: use --setting gold-text, or ocr+llm:ENGINE+udpipe")
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The text with marks, or its names with 、 between them.

        Raises:
            AskError: UDPipe failed, or lost characters.
        """
        del images
        text = "".join(request.source.split())
        clauses = await asyncio.to_thread(self._clauses, text, tag=request.form == "entities")
        if request.form == "entities":
            answer = "、".join(dict.fromkeys(name for clause in clauses for name in names(clause)))
        else:
            answer = punctuated(["".join(word.form for word in clause) for clause in clauses])
        return Answer(text=answer, status="answered" if answer else "empty")

    def _clauses(self, text: str, *, tag: bool) -> list[list[Word]]:
        from ufal import udpipe  # noqa: PLC0415 - installed separately

        tagging = udpipe.Pipeline.DEFAULT if tag else udpipe.Pipeline.NONE
        pipeline = udpipe.Pipeline(
            self._model, "tokenizer", tagging, udpipe.Pipeline.NONE, "conllu"
        )
        problem = udpipe.ProcessingError()
        output = pipeline.process(text, problem)
        if problem.occurred():
            raise AskError("engine", _("UDPipe: {}", problem.message))
        clauses = list(read_words(output))
        if "".join(word.form for clause in clauses for word in clause) != text:
            raise AskError("engine", _("UDPipe returned another text than its input"))
        return clauses

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - SWIG's class has no types
        from ufal import udpipe  # noqa: PLC0415 - installed separately

        model = udpipe.Model.load(str(self._file))
        if model is None:
            raise AskError("engine", _("UDPipe cannot read {}", self._file.name))
        return model


def punctuated(clauses: Sequence[str]) -> str:
    """Clauses with a mark after each."""
    marks = ["：" if clause.endswith(_SAYS) else "，" for clause in clauses]
    return "".join(
        f"{clause}{mark}"
        for clause, mark in zip(clauses, [*marks[:-1], "。"] if clauses else [], strict=True)
    )


def names(clause: Sequence[Word]) -> Iterator[str]:
    """The names in a clause, a family name and the given name after it as one."""
    family = ""
    for word in [*clause, Word("")]:
        if family and word.name != _GIVEN:
            yield family
            family = ""
        if word.name == _FAMILY:
            family = word.form
        elif word.name:
            yield f"{family}{word.form}"
            family = ""


def read_words(conllu: str) -> Iterator[list[Word]]:
    """The words of each sentence of a CoNLL-U text: form in column 2, features in column 6."""
    for sentence in conllu.split("\n\n"):
        rows = (row.split("\t") for row in sentence.split("\n") if row and row[0] != "#")
        words = [Word(row[1], _name(row[5])) for row in rows if row[0].isdecimal()]
        if words:
            yield words


def _name(features: str) -> str:
    kinds = (part for part in features.split("|") if part.startswith(_NAMES))
    return next(kinds, "").removeprefix(_NAMES)
