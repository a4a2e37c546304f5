"""The names that a response lists, without headings, numbers, kinds, notes and remarks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from keju.scoring.beside_names import named_in_bold, speaks_of_names, without_talk, written_list
from keju.scoring.blocks import kind_of_label
from keju.scoring.extraction import (
    Extracted,
    json_names,
    json_value,
    strict_body,
    without_fence,
)
from keju.scoring.remarks import is_modern, is_remark, speaks_of_the_page
from keju.scoring.short_answer import name_in
from keju.scoring.wordings import fold, wording
from keju.text import all_han, has_han

_SEPARATORS = re.compile(r"[、，,;；\n\r\t|/\u3000]|\s{2,}")
_BOXED_LIST = re.compile(r"\\boxed\s{0,2}\{(?:\\text\{)?([^{}]{0,2000})\}{1,2}")
_MARKUP = re.compile(r"\*\*|__|`|^[ \t]{0,4}>[ \t]?", re.MULTILINE)
_BOLD_HEADING = re.compile(
    r"^[ \t]*\*\*(?:[一二三四五六七八九十]{1,3}、)?[^*\n、，,]{1,24}\*\*[:：]?[ \t]*\n+"
    r"(?=[ \t]*(?:[-*•·]\s|\d{1,2}[.、)])[^\n:：]*$)",
    re.MULTILINE,
)
_GLOSS = re.compile(r"\s?[（(\[【<][^（()）\[\]【】<>]{0,120}[）)\]】>]")
_NAMED_TWICE = re.compile(
    r"(?P<latin>[A-Z][A-Za-zÀ-ɏ'’ -]{1,40}?)\s?[（(](?P<han>[\u3400-\u9fff]{1,12})[)）]"
)
_NUMBERS = re.compile(r"(?:^|(?<=[\s；;]))\d{1,2}[、.．)]\s?(?=[^\d\s])", re.MULTILINE)
_CIRCLES = re.compile(
    r"[①-⑳]|(?:^|(?<=[：:，,、。；;\s]))[一二三四五六七八九十]曰(?=.)|(?<=\S)\s(?=\d{1,2}[.、．])"
)
_ITEM = re.compile(
    r"[ \t]*(?:[-*•·]\s+|[(（]?\d{1,3}[)）.．、]\s*|[①-⑳]\s*|[一二三四五六七八九十]{1,3}、)"
    r"(?P<item>\S.*)"
)
_AFTER_ITEM = re.compile(r"\s*(?:——|—|–|\s-\s|[:：]|->|→|，|,\s)")
_KIND = re.compile(r"(?<=[\u4e00-\u9fff])/(?:人名|地名|官名|书名|时间|[A-Z]{2,6})")
_AND = re.compile(r"以及|及其|(?<=[\u4e00-\u9fff》]{2})和(?=[《\u4e00-\u9fff]{2})|\s和\s|\band\b")
_NUMBER_OF_THEM = re.compile(
    r"(?<=..)(?:—|–|-|，|,|、|\s)*(?:一?共|合?计|总计)?(?:有)?等?[一二三四五六七八九十两0-9]{1,3}[人位个個名处處地部种種者家國国城書书][。.；;\s]*$"
)
_AND_SO_ON = re.compile(r"(?<=\S\S)等(?=[。.\s]*$)")
_LABELLED = re.compile(r"[#\s*>-]*(?P<label>[^:：、，,\n]{1,24})[:：](?P<rest>.*)", re.DOTALL)
_HEADER = re.compile(
    r"序号|编号|实体|名称|类型|类别|命名实体|entity|name|type|label|#|no\.?", re.IGNORECASE
)
_NAME_HEADER = re.compile(
    r".{0,4}名称?|(?:命名)?实体(?:名称?|内容|列表)?|内容|词语?"
    r"|(?:named )?entit(?:y|ies)(?: names?)?|names?"
)
_LEADS_IN = re.compile(
    r":|[a-z]|答案|实体|抽取|提取|列出|名词|[人地]名|人物|地点|名称|结果|清单|列表|有|包[括含]|凡|下|到|提及|出现|涉及|记载"
)
_ANY_NAME = re.compile(r"(?:命名)?实体|名称|(?:named )?entit(?:y|ies)|names?")
_PROSE = re.compile(r"的|了(?![然解])|这")
_QUOTED = re.compile(r"[“「『][^“”「」『』]{0,2000}[”」』]")
_SENTENCE_END = re.compile(
    r"(?<=[。！？!?])(?=.)|(?<=[；;，,])(?=至[于於]|另外|此外|但|其[余餘他它])|(?<=\.)\s+(?=\S)"
)
_EDGE = " \t\r\n\u3000*_`#。.，,、:：;；!！'\"‘’“”「」"
_KIND_EDGE = _EDGE + "0123456789一二三四五六七八九十()（）[]【】"
_KIND_OF = r"(?:(?<=[、，,：:\s])|^){}[（(](?P<name>[^（()）]{1,24})[）)](?=[、，,。；;\s]|$)"
_TAG_OR_MEASURE = re.compile(
    r"(?:[BI]-)?(?:PER|LOC|ORG|GPE|TIME|DATE|OFI|BOOK|MISC)"
    r"|[一二三四五六七八九十两半0-9]+(?:钱|錢|两|兩|斤|分|枚|片|克|g|升|合|匙)"
)
_LOWER_WORD = re.compile(r"[\u4e00-\u9fff]|\b(?!(?:and|of|the)\b)[a-z]{2,}")
_NOTHING = re.compile(r"[暂]?(?:无|無|没有)|none|n/?a", re.IGNORECASE)
_LONGEST_NAME, _LONGEST_LABEL = 24, 6
_PAUSES = re.compile(r"[、，。；：！？,;:!?“”‘’「」『』\s]+")
_LONGEST_MEAN, _LONGEST_ALONE = 4, 12
_LONGEST = 100_000


def extract_entities(text: str, question: str = "") -> Extracted:
    """The names in a list with any separator, joined by 、 in the order they came.

    Separators are 、 , ; | / line breaks, ideographic and several spaces; a single space parts
    names where nothing else does. Numbering, labels and headings of kinds (人名：), notes and kinds
    after a name (孔子（人名）), introductions, remarks and offers are dropped; a corrected list
    replaces the first. A response that declines, describes or lists nothing has no answer.

    Args:
        text: the response.
        question: the question; of a name in two scripts the one in its script is taken.
    """
    body = strict_body(text)[:_LONGEST]
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    listed = _asked_names(body, question) or json_names(body)
    if listed and listed.answer:
        names, rule = _split(listed.answer), "JSON list"
    elif written := written_list(body):
        names, rule = _split(written), "JSON list"
    else:
        if (
            body.count("。") > 1
            and not speaks_of_names(body)
            and _is_running_text(body, _split(body))
        ):
            return Extracted(None, "running text, not a list", body)
        listing = _listing(without_talk(body))
        if has_han(question):
            listing = _NAMED_TWICE.sub(r"\g<han>", listing)
        names, rule = list(_names(listing)), "list"
        if _is_empty(json_value(body)):
            return Extracted(None, "no names are listed", body)
        if _is_running_text(listing, names):
            return Extracted(None, "running text, not a list", body)
    kept = _without_kinds(names)
    if not kept:
        return Extracted(None, "no names are listed", body)
    return Extracted("、".join(dict.fromkeys(kept)), rule, body)


def _without_kinds(names: list[str]) -> list[str]:
    """The names without kinds, tags and measures; none where nothing else is listed."""
    if any(has_han(each) for each in names):
        names = [each for each in names if has_han(each)]
    names = [each for each in names if not _NOTHING.fullmatch(each)]
    names = [each for each in names if not _TAG_OR_MEASURE.fullmatch(each)]
    kinds = [bool(wording("entities", "kind").fullmatch(fold(each))) for each in names]
    if kinds and kinds[0]:  # a heading or the header of a table
        names = [each for each, kind in zip(names, kinds, strict=True) if not kind or len(each) < 2]
    return [] if all(kinds) else names


def _is_empty(value: object) -> bool:
    """Whether a JSON object has an empty list and no other one."""
    lists = (
        [each for each in value.values() if isinstance(each, list)]
        if isinstance(value, dict)
        else []
    )
    return bool(lists) and not any(lists)


def _asked_names(body: str, question: str) -> Extracted | None:
    """The list under the one key of a JSON object that the question names, of several lists."""
    value = json_value(body)
    lists = (
        [key for key in value if isinstance(value[key], list)] if isinstance(value, dict) else []
    )
    asked = [key for key in lists if fold(str(key)) in fold(question)]
    if not isinstance(value, dict) or len(lists) < 2 or len(asked) != 1:
        return None
    names = [each for each in value[asked[0]] if isinstance(each, str)]
    return Extracted("、".join(names), f"JSON key {asked[0]!r}", body)


def _listing(body: str) -> str:
    """The part of a body that is the list: after its introduction, or the corrected one."""
    body = named_in_bold(body)
    body = _BOLD_HEADING.sub(lambda found: found[0] if _opens_notes(found[0]) else "", body)
    plain = _MARKUP.sub("", _BOXED_LIST.sub(r"\1", without_fence(body)))
    plain = _CIRCLES.sub("\n", plain.replace("》《", "》、《"))
    plain = _last_list(plain) or plain
    flat = fold(plain)
    last = None
    for found in wording("entities", "final").finditer(flat):
        if plain[found.end() :].strip(_EDGE):
            last = found
    if last is not None:
        return plain[last.end() :]
    if len(kinds := [*wording("entities", "kind_has").finditer(flat)]) > 1:
        for each in reversed(kinds):  # 人名有甲、乙，地名有丙
            plain = plain[: each.start()] + "\n" + plain[each.end() :]
        return plain[kinds[0].start() :]
    start = 0
    introduced = wording("entities", "introduces").finditer(flat) if _LEADS_IN.search(flat) else ()
    for found in introduced:
        label = found[0].strip(_EDGE + " -•")
        if wording("entities", "kind").fullmatch(label) and not _ANY_NAME.fullmatch(label):
            continue
        after = plain[found.end() :]
        before = _QUOTED.sub("", plain[start : found.start()])
        if after.strip(_EDGE) and "、" not in before:
            start = found.end()
    return wording("entities", "kind", _KIND_OF).sub(r"\g<name>", plain[start:])


def _last_list(plain: str) -> str:
    """The last paragraph where it lists again what was named before; else an empty text."""
    before, _, last = plain.rstrip().rpartition("\n\n")
    names = [each.strip(_EDGE) for each in last.split("、")]
    again = sum(each in before for each in names)
    listed = len(names) > 2 and all(0 < len(each) <= _LONGEST_ALONE for each in names)
    return last if listed and "\n" not in last and 3 * again > 2 * len(names) else ""


def _is_running_text(listing: str, names: Sequence[str]) -> bool:
    """Whether the parts of a listing are the text of a page: long, without marks of a list."""
    said = "".join(names)
    core = _GLOSS.sub("", listing).strip()
    if not said or not all_han(_PAUSES.sub("", core)):
        return False
    pauses = _PAUSES.findall(core)
    if 2 * sum("、" in each for each in pauses) > len(pauses):
        return False
    mean = _LONGEST_MEAN - any("。" in each for each in pauses[:-1])
    return len(said) > (mean * len(names) if len(names) > 1 else _LONGEST_ALONE)


def _names(listing: str) -> Iterator[str]:
    if wording("entities", "none", "{}").fullmatch(fold(listing).strip(_EDGE)):
        return
    begun = False
    explained, column = _are_explained(listing), _name_column(listing)
    by_kind = _has_a_column_for_each_kind(listing)
    for line in listing.splitlines():
        if begun and _opens_notes(line):
            return
        if not begun and _is_latin(line) and line.rstrip().endswith(":"):
            continue
        begun = begun or bool(line.strip(_EDGE))
        if begun and _is_note(line):
            return
        item = _ITEM.fullmatch(line)
        if line.strip().startswith("|"):
            yield from _split("、".join(_cells(line)) if by_kind else _cell(line, column))
        elif item and explained and (named := _explained(item["item"])):
            yield from _clean(named)
        elif item and "、" not in item["item"] and not _LABELLED.fullmatch(line):
            yield from _clean(_AFTER_ITEM.split(_GLOSS.sub("", item["item"]), maxsplit=1)[0])
        else:
            parts = re.split(r"[;；]", line)
            labelled = len(parts) > 1 and all(_LABELLED.fullmatch(each) for each in parts)
            for each in parts if labelled else [line]:
                yield from _of_line(each)


def _explained(item: str) -> str:
    """The name before the colon of an item that explains it; nothing before a known kind."""
    found = _LABELLED.fullmatch(item)
    if not found or not found["rest"].strip(_EDGE):
        return ""
    label = _GLOSS.sub("", found["label"])
    kind = wording("entities", "kind", "{}(?:类|类别|实体)?").fullmatch(fold(label).strip(_EDGE))
    return "" if kind or len(label) > _LONGEST_NAME else label


def _are_explained(listing: str) -> bool:
    """Whether most items are a name, a colon and an explanation (- 韩信：淮阴人，汉初名将).

    Under headings of kinds, any item that is not a list; else those explained in more words.
    """
    lines = listing.splitlines()
    items = [found["item"] for each in lines if (found := _ITEM.fullmatch(each))]
    headed = any(
        wording("entities", "kind", "{}(?:类|类别|实体)?").fullmatch(fold(each).strip(_KIND_EDGE))
        for each in lines
        if not _ITEM.fullmatch(each)
    )
    named = [
        each for each in items
        if (name := _explained(each)) and "、" not in each
        and (headed or len(each) > 2 * len(name) + 2)
    ]  # fmt: skip
    labelled = sum(_LABELLED.fullmatch(each) is not None for each in items)
    return bool(named) and 2 * len(named) > labelled


def _opens_notes(line: str) -> bool:
    """Whether a line is nothing but the label of what is added to a list (说明：)."""
    core = line.strip(" \t#*>-:：【】[]")
    heading = line.strip().endswith((":", "：")) or line.strip()[:1] in "#*【"
    flat = fold(core)
    if not (heading or wording("entities", "notes").fullmatch(flat)):
        return False
    known = wording("entities", "kind", "{}(?:类|名)?").fullmatch(flat)
    return kind_of_label(core) == "aside" and not known


def _is_note(line: str) -> bool:
    """Whether a line is a note with its label (注：“荆州”为地名，未列入)."""
    found = _LABELLED.fullmatch(line.strip())
    return found is not None and bool(
        wording("discourse", "note").fullmatch(fold(found["label"]).strip(_EDGE))
    )


def _of_line(line: str) -> Iterator[str]:
    """The names in a line that is not a list item: its sentences without labels and remarks."""
    for sentence in _SENTENCE_END.split(_GLOSS.sub("", line)):
        said = _without_label(sentence)
        if "、" in said:
            said = re.sub(r"^\s*有(?=\S)", "", _NUMBER_OF_THEM.sub("", said))
        if not said.strip(_EDGE) or _is_said(said):
            continue
        said = _KIND.sub("", _CIRCLES.sub("、", _NUMBERS.sub("、", said)))
        said = _AND_SO_ON.sub("", _AND.sub("、", said)).rstrip("。 ")
        yield from _split(said)


def _is_said(sentence: str) -> bool:
    """Whether a sentence speaks about the list, the image or the user."""
    flat = fold(sentence).strip(_EDGE + "()（）>")
    if wording("entities", "explains").search(flat):
        return True
    if wording("discourse", "refusal").search(flat) and (is_modern(flat) or _is_latin(flat)):
        return True
    if _LOWER_WORD.search(sentence) and is_remark(sentence, "transcription"):
        return True
    if "、" not in flat and "," in flat and _PROSE.search(flat):
        return True
    return _is_latin(flat) and len(flat.split()) > 12 and flat.count(",") < 3


def _is_latin(flat: str) -> bool:
    return not has_han(flat)


def _without_label(line: str) -> str:
    """A line without the heading or label of a kind before it."""
    core = re.sub(r"^[\s#*>-]+", "", line)
    found = _LABELLED.fullmatch(core)
    if found and _is_kind(found["label"]) and not _is_kind_name(found["rest"]):
        return found["rest"]
    if found and not found["rest"].strip(_EDGE):
        return ""
    flat = fold(core).strip(_EDGE)
    if line.lstrip().startswith("#") or wording("entities", "kind", "{}(?:类|名)?").fullmatch(flat):
        return ""
    named = wording("entities", "kind", "{}(?:有|包括|为|是):?").match(fold(core))
    return core[named.end() :] if named else core


def _is_kind_name(rest: str) -> bool:
    """Whether what follows a colon begins with a kind (孔子：人名、…)."""
    first = fold(_SEPARATORS.split(rest.strip())[0]).strip(_EDGE)
    return bool(wording("entities", "kind").fullmatch(first))


def _is_kind(label: str) -> bool:
    flat = fold(_GLOSS.sub("", label)).strip(_EDGE + "0123456789一二三四五六七八九十.、")
    known = wording("entities", "kind", "{}(?:类|类别|实体)?").fullmatch(flat)
    return known is not None or len(flat) <= _LONGEST_LABEL


def _split(listing: str) -> list[str]:
    parts = [part for part in _SEPARATORS.split(listing) if part.strip()]
    if len(parts) > 2 and any(len(part.strip(_EDGE)) == 1 for part in parts):
        parts = parts[:-1] + re.split("和|与|及", parts[-1])
    if len(parts) == 1 and " " in listing.strip() and has_han(listing):
        parts = listing.split()
    return [name for part in parts for name in _clean(part)]


def _clean(part: str) -> Iterator[str]:
    name = name_in(part)
    if name and not (len(name) > _LONGEST_NAME and speaks_of_the_page(fold(name))):
        yield name


def _name_column(listing: str) -> int | None:
    """The place of the column of names in a Markdown table, by its header (门名)."""
    lines = [line.strip() for line in listing.splitlines()]
    for line, ahead in pairwise(lines):
        if line.startswith("|") and ahead.startswith("|") and set(ahead) <= set("|-: "):
            cells = [fold(cell.strip()) for cell in line.strip("|").split("|")]
            named = [place for place, cell in enumerate(cells) if _NAME_HEADER.fullmatch(cell)]
            return named[0] if len(named) == 1 else None
    return None


def _cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table; none of its rule."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return [] if set("".join(cells)) <= set("-: ") else cells


def _has_a_column_for_each_kind(listing: str) -> bool:
    """Whether the header of a table names nothing but kinds (人名, 地名)."""
    lines = [each for each in listing.splitlines() if each.strip().startswith("|")]
    header = _cells(lines[0]) if lines else []
    known = (
        wording("entities", "kind", "(?:{})(?:类|列表)?").fullmatch(fold(each)) for each in header
    )
    return len(header) > 1 and all(known) and not any(map(_HEADER.fullmatch, header))


def _cell(line: str, column: int | None = None) -> str:
    """The name in a row of a Markdown table; nothing of its header and rule."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if set("".join(cells)) <= set("-: ") or any(_HEADER.fullmatch(cell) for cell in cells):
        return ""
    if column is not None and column < len(cells):
        return "" if _NAME_HEADER.fullmatch(fold(cells[column])) else cells[column]
    return next((cell for cell in cells if not re.fullmatch(r"[0-9.]*|[①-⑳]", cell)), "")
