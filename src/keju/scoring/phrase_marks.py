"""The marks around a phrase: at its edges, in bold, in brackets and in quotation marks."""

from __future__ import annotations

import re

EDGE = " \t\r\n\u3000*_`#。.，,、:：;；!！?？'\"‘’“”「」『』()（）[]【】《》-—–=~"
OUTSIDE = " \t\r\n\u3000*_`#。.，,、:：;；!！'\"‘’“”—–-"
OPEN, CLOSE = "（(“「『《【[‘", "）)”」』》】]’"
BOLD = re.compile(r"\*\*([^*\n]{1,60}(?<![：:]))\*\*(?!\s?[：:])")
GLOSS = re.compile(r"\s*[（(\[][^（()）\[\]]{0,200}[）)\]]")
QUOTED = re.compile(
    r"[“「『《\"‘](?P<inside>[^“”「」『』《》\"‘’]{1,80})[”」』》\"’]"
    r"|(?<!\w)'(?P<single>[^'\n]{1,80})'(?!\w)"
)


def without_quoted(flat: str) -> str:
    """A text of the same length with what is quoted made neutral."""
    return QUOTED.sub(lambda found: found[0][0] + "□" * (len(found[0]) - 2) + found[0][-1], flat)
