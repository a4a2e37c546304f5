"""The numbers in the sentences of a claim, and those that the claim's checks do not compute."""

import re

from keju.published.claims import ClaimDecision

_NUMBER = re.compile(r"(?<![\w.\-–])[+\-−]?\d[\d,]*(?:\.\d+)?(?![\w]|\.\d)")
_PLACE = re.compile(
    r"(?:Sections?|Tables?|Figures?|Appendix|Appendices|equations?|表|图|第|附录|式|Gemini)\s*"
    r"[A-Z]?[\d.]+(?:(?:\s*(?:,|、|and|和|to|至|–|-)\s*)[A-Z]?[\d.]+)*",
)


def numbers_in(text: str) -> list[str]:
    """The numbers of a sentence, without those of tables, sections and names of models."""
    return [
        found.replace("−", "-").replace(",", "").removeprefix("+")
        for found in _NUMBER.findall(_PLACE.sub(" ", text))
    ]


def unsupported_numbers(decided: ClaimDecision, text: str) -> list[str]:
    """The decimal numbers of a sentence that none of the claim's checks and facts computes."""
    return [
        number
        for number in numbers_in(text)
        if "." in number and not any(_prints_as(value, number) for value in decided.values)
    ]


def _prints_as(value: float, number: str) -> bool:
    digits = len(number.partition(".")[2])
    return abs(abs(value) - abs(float(number))) <= 0.5 * 10.0**-digits + 1e-9
