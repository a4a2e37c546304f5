"""Sentences beside a list of names: reasoning, names not given, notes, sources and offers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keju.scoring.blocks import kind_of_label
from keju.scoring.extraction import json_names, json_value
from keju.scoring.remarks import is_modern, is_mostly_latin, is_remark
from keju.scoring.response_lines import QUOTED
from keju.scoring.wordings import fold, wording
from keju.text import count_han, has_han

_LONGEST, _FEWEST_HAN, _LONGEST_HEAD, _LONGEST_NAME = 20_000, 5, 40, 8
_SENTENCE_END = re.compile(
    r"(?<=[。！？!?])(?![”’」』》）)\]】])|(?<=[\w)）\]}*`\"”」][.])\s+(?=[A-Z*(\[{`\u3400-\u9fff])"
)
_LABEL = re.compile(r"[\s#*>_-]*(?P<label>[^:：、，,\n]{1,16}?)[*_]*[:：]")
_LIST_MARK = re.compile(r"\s*(?:[-*•·|]|[(（]?(?:\d{1,2}|[a-z])[.、)）．]|[①-⑳])\s*")
_WRITTEN = re.compile(
    r"\[[^\[\]{}]{2,4000}\]|\{(?:[^{}]|\{[^{}]*\}){2,8000}\}|\[(?:[^\[\]]|\[[^\[\]]*\]){2,8000}\]"
)
_ORDINAL = re.compile(
    r"[，,；;。]?\s?(?:首先|第一|其次|第二|再次|然后|接着|第三|最后)(?:个|位)?(?:是|为)|[(（]\d{1,2}[)）]"
)
_NUMBERED_LABEL = re.compile(
    r"(?:(?:命名)?实体|名称|(?:entity|name)\s?)\d{1,2}[:：]|(?:(?<=[；;。\s])|^)[一二三四五六七八九十]、(?=[\u4e00-\u9fff]{1,4}[:：])",
    re.IGNORECASE,
)
_BOLD_ITEM = re.compile(
    r"^[ \t]*(?:[-*•·]|\d{1,2}[.、)])[ \t]*\*\*(?P<name>[^*\n：:、]{1,24})"
    r"(?:[：:]\*\*|\*\*\s?(?:[：:]|[–—-]{1,2}))(?P<said>[^\n]*)$",
    re.MULTILINE,
)
_LEAST_ITEMS = 2
_ARROW = re.compile(r"(?<=[a-z])\s*(?:→|->|=>|⇒)\s*")
_KEY = re.compile(
    r"(?:named_?)?entit(?:y|ies)|answer|results?|output|list|命名实体|实体|结果|答案|抽取结果|列表"
)
_GLOSS = re.compile(r"\s?[（(\[][^（()）\[\]]{0,120}[）)\]]")
_SEPARATOR = re.compile(r"[、，,;；|/]\s*|\s+and\s+|以及|\s{1,4}(?=[\u3400-\u9fff])")
_EDGE = ' \t*_`"“”「」『』《》<>'
_LONGEST_PART, _MEAN_PART, _MEAN_NAME = 16, 7, 4
_QUOTED_NAME = re.compile(r"[“「『](?P<name>[\u3400-\u9fff]{1,8})[”」』](?=[、，,和与及。]|$)")
_ASIDE = re.compile(r"[，,]其中(?!的?(?:命名)?实体).*")
_NEXT_QUOTED = re.compile(r"(?<=[”」』])(?=[“「『])")
_HAN_RUN = re.compile(r"[《]?[\u3400-\u9fff\U00020000-\U0003ffff·]+[》]?")


def written_list(body: str) -> str:
    """The names of the last list in the notation of JSON or Python among other words, if any."""
    if len(body) > _LONGEST:
        return ""
    for found in reversed(list(_WRITTEN.finditer(body))):
        text = found[0]
        for each in (text, _as_json(text)):
            names = json_names(each)
            said = names.answer if names else _value_in(each)
            if said and has_han(said):
                return said
    return ""


def _value_in(text: str) -> str | None:
    """The one string under a key for answers in a JSON object."""
    value = json_value(text)
    if not isinstance(value, dict):
        return None
    said = [value[key] for key in value if _KEY.fullmatch(fold(str(key)))]
    return said[0] if len(said) == 1 and isinstance(said[0], str) else None


def speaks_of_names(body: str) -> bool:
    """Whether a body has a word about a list of names, or of modern prose: it is not a page."""
    return wording("entities", "of_names").search(fold(body)) is not None


def named_in_bold(body: str) -> str:
    """A list whose items are a name in bold and what it is, as the names only."""
    found = list(_BOLD_ITEM.finditer(body))
    kinds = wording("entities", "kind")
    if len(found) < _LEAST_ITEMS or any(
        kinds.fullmatch(fold(each["name"])) or "、" in each["said"] for each in found
    ):
        return body
    return _BOLD_ITEM.sub(lambda each: f"- {each['name']}", body)


def _as_json(text: str) -> str:
    """A list in the notation of Python, with the quotation marks of JSON."""
    return text.replace("'", '"') if '"' not in text else text


def without_talk(body: str) -> str:
    """A body without the sentences that name nothing of the list; the body if none is left.

    Of an English sentence that names something, the names in Han characters.
    """
    if len(body) > _LONGEST or not has_han(body):
        return body
    kept: list[str] = []
    last = 0
    for sentence in _sentences(body):
        if _opens_notes(sentence) and has_han("".join(kept)):
            break
        head, colon, rest = fold(sentence[:_LONGEST_HEAD]).partition(":")
        kind = kind_of_label(head) if colon else ""
        concludes = kind == "final" or wording("entities", "answers").fullmatch(head.strip("*#> "))
        concludes = concludes or wording("discourse", "correction").search(head)
        last = len(kept) if colon and concludes else last
        start = len(head) + 1 if colon and concludes and has_han(rest) else 0
        if kind not in {"draft", "original", "reading"} or "、" in rest or concludes:
            kept += filter(str.strip, [_of_sentence(_with_separators(sentence[start:]))])
    if has_han("".join(kept[last:])):
        kept = kept[last:]
    left = "\n".join(_listed(kept))
    return left if has_han(left) else body


def _listed(sentences: list[str]) -> list[str]:
    """The sentences that list names, where there are any; else all."""
    if not any(map(_lists, sentences)):
        return sentences
    return [each for each in sentences if _lists(each) or _may_be_name(each)]


def _lists(sentence: str) -> bool:
    """Whether a sentence is an item of a list, names of one kind, or several names."""
    if _LIST_MARK.match(sentence) or wording("entities", "kind_has").search(fold(sentence)):
        return True
    label = _LABEL.match(sentence)
    if label and wording("entities", "kind", "{}(?:类|名)?").fullmatch(
        fold(_GLOSS.sub("", label["label"])).strip("*_ 0123456789个")
    ):
        return True
    said = _GLOSS.sub("", sentence[label.end() if label else 0 :]).strip(" \t*_`。.>")
    parts = [each.strip(_EDGE) for each in _SEPARATOR.split(said)]
    sizes = [max(count_han(each), len(each) // 4) for each in parts]
    longest, mean = (_LONGEST_PART, _MEAN_PART) if "、" in said else (_LONGEST_NAME, _MEAN_NAME)
    fewest = 2 if "、" in said or "|" in said or label or not has_han(sentence.strip()[:1]) else 3
    return len(parts) >= fewest and 0 < max(sizes) <= longest and sum(sizes) <= mean * len(sizes)


def _may_be_name(sentence: str) -> bool:
    """Whether a sentence may be one name on a line of its own, or a heading."""
    core = sentence.strip(" \t*_#`>-")
    return (
        bool(core) and not re.search(r"[。！？，：:!?]", core) and count_han(core) <= _LONGEST_NAME
    )


def _with_separators(line: str) -> str:
    """A line with a mark between names that ordinal words or numbers introduce."""
    line = _NEXT_QUOTED.sub("、", line.replace("｜", "、"))
    line = _QUOTED_NAME.sub(r"\g<name>", line) if line.count("”") + line.count("」") > 1 else line
    dashed = wording("entities", "kind", r"(?P<kind>(?:^|[;；,，。])\s?{})\s?[—–]+")
    line = dashed.sub(r"\g<kind>：", line)
    line = _NUMBERED_LABEL.sub("", _ORDINAL.sub("、", line))
    return _ARROW.sub("：", line)


def _opens_notes(line: str) -> bool:
    """Whether a line is nothing but the label of notes."""
    core = line.strip(" \t*_#>-【】")
    return core.endswith((":", "：")) and kind_of_label(core.rstrip("：:")) == "aside"


def _sentences(body: str) -> Iterator[str]:
    """The sentences of a body, the items of a list whole."""
    for line in body.split("\n"):
        yield from [line] if _LIST_MARK.match(line) else _SENTENCE_END.split(line)


def _of_sentence(sentence: str) -> str:
    listed = _LIST_MARK.match(sentence)
    if _denies(sentence) if listed else _is_talk(sentence):
        return ""
    if listed:
        return sentence
    words = len(re.findall(r"\b(?!and\b)[a-z]{2,}", QUOTED.sub("", sentence)))
    names = _HAN_RUN.findall(sentence)
    if words > 1 and len(names) > 1 and not re.search("[:：、]", sentence):
        return "、".join(names)
    return _without_frame(sentence)


def _without_frame(sentence: str) -> str:
    """A sentence without the words before its first name and after its last one."""
    said = _ASIDE.sub("", sentence) if "、" in sentence.split("其中", maxsplit=1)[0] else sentence
    said = wording("entities", "is_kind").sub("", said)
    first, comma, rest = said.partition("、")
    if (
        not comma
        or re.search("[:：（(]", said)
        or wording("entities", "kind_has").search(fold(said))
    ):
        return said
    if found := list(wording("entities", "frame_before").finditer(fold(first))):
        first = first[found[-1].end() :] or first
    rest = (
        rest[: end.start()]
        if (end := wording("entities", "frame_after").search(fold(rest)))
        else rest
    )
    return first + comma + rest


def _denies(sentence: str) -> bool:
    return wording("entities", "leaves_out").search(fold(sentence)) is not None


def _is_talk(sentence: str) -> bool:  # noqa: PLR0911
    """Whether a sentence is not a list, nor part of one."""
    flat = fold(sentence).strip(" \t*_>#-()（）[]【】")
    label = _LABEL.match(sentence)
    if label and kind_of_label(label["label"]) == "aside":
        return True
    rest = flat.rpartition(":")[2]
    colon = ":" in flat
    if _denies(rest or flat):
        return True
    if is_mostly_latin(flat):
        return not has_han(flat) and len(flat.split()) > 1 and not colon
    if wording("discourse", "offer").match(flat):
        return True
    if "、" in flat:
        return _lists_kinds(flat)
    if count_han(flat) < _FEWEST_HAN or colon:
        return False
    if _lists(sentence):
        return False
    if wording("entities", "speaks_of_them").match(flat):
        return True
    return is_remark(sentence, "transcription") or is_modern(sentence)


def _lists_kinds(flat: str) -> bool:
    """Whether a sentence lists kinds of names, not names (一般指人名、地名、时间等)."""
    parts = [each.rstrip("。.等") for each in re.split("[、,]", flat)]
    kinds = [wording("entities", "kind", "(?:{})$").search(each[-4:]) for each in parts]
    whole = [wording("entities", "kind").fullmatch(each) for each in parts[1:]]
    return len(parts) > 2 and all(kinds[-2:]) and sum(map(bool, whole)) > 1
