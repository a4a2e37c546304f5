"""The text of a response to a short question, without markup, headings, reasons and details."""

from __future__ import annotations

import re

from keju.scoring.asked_phrases import find_asked_phrase
from keju.scoring.clause_weights import LEAST
from keju.scoring.extraction import without_fence, without_headings
from keju.scoring.phrase_clauses import clauses_of
from keju.scoring.phrase_values import LONGEST_PLAIN
from keju.scoring.wordings import fold, wording

_MATHS = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\s{0,3}\{([^{}]*)\}|\\[()\[\]]|\$+")
_FIRST_OF_ONE = re.compile(r"^(?:1[.．、)）]|[-•]|\*(?!\*))\s*(?=[^\d\s][^\n]*\Z)")
_HTML = re.compile(
    r"</?(?:table|thead|tbody|t[rdh]|p|div|span|center|[biu]|em|strong|h[1-6])\b[^<>]{0,80}>"
)
_CLASSICAL = re.compile(r"者[，,](?=[^，。,]{1,16}也)")
_QUOTED_LINES = re.compile(r'"([^"\n]{1,80})\n([^"\n]{1,80})"')
_MARK = re.compile(r"答案|←|[✓✔✅√]|\banswer\b", re.IGNORECASE)
_ROW = re.compile(r"^[ \t]*\|(?P<first>[^|\n]{1,60})\|[^\n]*$", re.MULTILINE)
_WHOLE_ROW = re.compile(r"^[ \t]*\|[^\n]*\|[ \t]*(?:\n|\Z)", re.MULTILINE)
_SECTION = re.compile(r"^[ \t]*#{1,6}[ \t]+([^\n]{1,40})\n", re.MULTILINE)
_ANNOUNCES = re.compile(r"(?:(?<=[。.!])|^)[^。.!\n]{1,40}[:：][ *]*$")
_CONCLUSION = re.compile(
    r"^[ \t]*#{1,6}[ \t]*[*]*(?:最终)?(?:结论|結論|总结|總結|conclusion|summary)[*]*[:：]?[ \t]*\n",
    re.IGNORECASE | re.MULTILINE,
)
_HEADED_VALUE = re.compile(r"([:：])[* \t]*\n+[ \t]*#{1,6}[ \t]+(?=[^\n]{1,40}\Z)")
_ELABORATES = re.compile(
    r"\n[ \t#*]*(?:(?:long(?:er)?|full|detailed) (?:answer|explanation|version)"
    r"|详细(?:回答|解释|说明|分析)|展开(?:说明)?)[*]*[:：]",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^[ \t]*(?:\d{1,2}[.．、)）]|[-*•·])[ \t]+(?=\S)", re.MULTILINE)
_ANSWER_HEADING = re.compile(
    r"^[ \t#*【\[]*(?:最终|最終|正确|正確)?(?:答案|(?:final |correct )?answer)[】\]*:： \t]*\n+",
    re.IGNORECASE | re.MULTILINE,
)
_REPEATED = re.compile(r"(?P<unit>\S{2,12}?)(?P=unit){3,}")


def plain_text(body: str) -> str:
    """A body without fence, LaTeX, HTML and repetition, each quotation on one line."""
    core = _MATHS.sub(lambda found: found[1] or "", without_fence(body)).strip()
    if len(core) <= LONGEST_PLAIN:
        core = _REPEATED.sub(lambda found: found["unit"], core)
    core = _HTML.sub(" ", _QUOTED_LINES.sub(r'"\1 \2"', core))
    core = _CLASSICAL.sub("者：", core).strip()
    if re.fullmatch(r"\S(?:\n+\S)+", core):
        core = core.replace("\n", "")
    head, stop, tail = core.rpartition("。")
    return head + stop if len(tail) > 1 and tail in head else core


def answer_text(core: str, question: str) -> str:
    """A plain text without headings, numbering, the reasons after an answer and longer versions."""
    core = _ELABORATES.split(core)[0].strip() or core
    core = _asked_section(core, question) or core
    concluded = _CONCLUSION.split(core)[-1]
    core = concluded if concluded.strip() else core
    core = _without_table(core, question)
    core = _HEADED_VALUE.sub(r"\1", core)
    core = core if _ANSWER_HEADING.search(core) else without_headings(core).strip()
    core = _LISTED.sub("", _without_reasons(core, question)) if "\n" in core else core
    return _FIRST_OF_ONE.sub("", _ANSWER_HEADING.sub(r"答案：", core))


def _asked_section(core: str, question: str) -> str:
    """The text below the one heading that names the meaning that is asked for; else nothing."""
    if "meaning" not in find_asked_phrase(question).kinds:
        return ""
    parts = _SECTION.split(core)
    found = [
        text for title, text in zip(parts[1::2], parts[2::2], strict=True)
        if text.strip() and wording("short", "key_meaning").fullmatch(fold(title).strip(" *:"))
    ]  # fmt: skip
    return found[0].strip() if len(found) == 1 else ""


def _without_table(core: str, question: str) -> str:
    """A text without a table beside it, unless one of its columns is what the question asks for."""
    rows = _WHOLE_ROW.findall(core)
    asked = rows and any(
        len(cell.strip(" *")) > 1 and cell.strip(" *") in question for cell in rows[0].split("|")
    )
    return core if not rows or asked else _WHOLE_ROW.sub("", core).strip() or core


def _without_reasons(core: str, question: str) -> str:
    """A text without the items of a list that give the reasons for what was stated before it."""
    kept: list[str] = []
    stated = False
    for line in core.split("\n"):
        item = _LISTED.match(line) is not None
        if item and stated:
            while len(kept) > 1 and not kept[-1].strip():
                kept.pop()
            kept[-1] = _ANNOUNCES.sub("", kept[-1])
            continue
        if not item:
            stated = stated or any(each.weight >= LEAST for each in clauses_of(line, question))
        kept.append(line)
    return "\n".join(kept)


def marked_row(core: str) -> str:
    """The first cell of the one row of a Markdown table that is marked as the answer."""
    rows = list(_ROW.finditer(core))
    marked = [each["first"].strip() for each in rows if _MARK.search(each[0])]
    return marked[0] if len(rows) > 2 and len(marked) == 1 else ""
