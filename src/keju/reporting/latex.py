"""LaTeX tables of the leaderboards and the paper tables: booktabs, everything escaped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from keju.analysis.leaderboard import Leaderboard
from keju.files import slug, write_atomic
from keju.formatting import NOTHING
from keju.reporting.cells import Cell
from keju.reporting.leaderboard_cells import overall_cell, rank_cell
from keju.reporting.page import Report
from keju.reporting.paper_table_form import PaperTable, PaperTableRow
from keju.texts import Text, in_english

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "→": r"$\rightarrow$", "·": r"$\cdot$",
    "−": "$-$", NOTHING: "--",
}  # fmt: skip
_LIGATURES = re.compile("-(?=-)|[?!](?=`)|[`'](?=[`'])")
_NEEDS = "% needs \\usepackage{booktabs}; Chinese needs xelatex or lualatex with xeCJK or luatexja"
_OWN, _PRINTED = "This run", "The paper, as printed unless a row says otherwise"


def write_latex(report: Report, folder: Path) -> list[Path]:
    """Write a file for each leaderboard and each paper table.

    A file contains one ``table`` environment, to be included in a document. Bold is the best of a
    column and underlined the second, including ties. A mean without some tasks has a note in its
    cell.
    """
    written = []
    for board in report.view.boards:
        path = folder / f"{slug(board.benchmark)}-leaderboard.tex"
        write_atomic(path, "\n".join(_format_leaderboard(board, report.view.title)) + "\n")
        written.append(path)
    for table in report.paper_tables:
        path = folder / f"{slug(table.benchmark)}-{slug(table.name)}.tex"
        write_atomic(path, "\n".join(_format_paper_table(table, report.view.other_data)) + "\n")
        written.append(path)
    return written


def escaped(text: str) -> str:
    """Text that LaTeX prints literally.

    Messages are in English. Characters without a glyph (controls, bidi marks) are removed.
    """
    kept = "".join(" " if c.isspace() else c for c in in_english(text))
    kept = "".join(c for c in kept if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    kept = _LIGATURES.sub(lambda found: found[0] + "\0", kept)
    return "".join(_SPECIAL.get(char, char) for char in kept).replace("\0", "{}")


def _format_leaderboard(board: Leaderboard, title: str) -> Iterator[str]:
    heads = ["Model"]
    for head in reversed(board.heads):
        heads += [escaped(head[0].upper() + head[1:]), "Rank"]
    rows: list[tuple[str, list[str]]] = []
    for group in board.groups:
        for row in group.rows:
            cells = [escaped(row.model)]
            for place in reversed(range(len(board.protocols))):
                overall, rank = overall_cell(row.overall[place]), rank_cell(row.ranks[place])
                cells += [_with_note(overall), _with_note(rank)]
            rows.append((escaped(group.title), cells))
    caption = (
        f"{board.title} on {title}: overall means in percent with 95 % intervals by group, and "
        "ranks with those that remain possible after paired tests (Holm, p at most .05)."
    )
    yield from _format_table(
        escaped(caption), f"tab:{slug(board.benchmark)}-leaderboard", [heads], rows
    )


def _format_paper_table(table: PaperTable, data: Sequence[str]) -> Iterator[str]:
    heads = [
        ["Model", *(escaped(heading.title) for heading in table.headings)],
        ["", *(escaped(heading.metric) for heading in table.headings)],
    ]
    rows = [
        (escaped(_group(row)), [escaped(_name(row)), *map(_with_note, row.cells)])
        for row in table.rows
    ]
    # Other notes are the Chinese names of tasks.
    notes = [
        f"{in_english(h.title)}: {in_english(h.note)}."
        for h in table.headings
        if isinstance(h.note, Text)
    ]
    about = map(in_english, (*table.notes, *data))
    caption = " ".join([f"{table.benchmark}, in the form of {table.name}.", *notes, *about])
    label = f"tab:{slug(table.benchmark)}-{slug(table.name)}"
    yield from _format_table(escaped(caption), label, heads, rows)


def _group(row: PaperTableRow) -> str:
    """The line above a row: its origin, and the paper's title of its group of rows."""
    if row.source in ("this run", "difference"):
        return _OWN
    return f"{_PRINTED}: {row.group}" if row.group else _PRINTED


def _name(row: PaperTableRow) -> str:
    """The row's first cell; a row that is not as printed states it."""
    if row.source == "paper" or row.plain:
        return row.model
    return f"{in_english(row.name)} ({in_english(row.label)})"


def _format_table(
    caption: str, label: str, heads: list[list[str]], rows: Sequence[tuple[str, list[str]]]
) -> Iterator[str]:
    width = len(heads[0])
    yield _NEEDS
    yield "\\begin{table}"
    yield "\\centering"
    yield f"\\caption{{{caption}}}"
    yield f"\\label{{{label}}}"
    yield f"\\begin{{tabular}}{{l{'r' * (width - 1)}}}"
    yield "\\toprule"
    for head in heads:
        yield " & ".join(head) + r" \\"
    group = None
    for its, cells in rows:
        if its != group:
            yield "\\midrule"
            yield f"\\multicolumn{{{width}}}{{l}}{{\\textit{{{its}}}}} \\\\"
            group = its
        yield " & ".join(cells) + r" \\"
    yield "\\bottomrule"
    yield "\\end{tabular}"
    yield "\\end{table}"


def _number(cell: Cell) -> str:
    text = escaped(cell.value)
    if cell.best:
        return f"\\textbf{{{text}}}"
    return f"\\underline{{{text}}}" if cell.second else text


def _with_note(cell: Cell) -> str:
    note = in_english(cell.note).partition("\n")[0]
    return f"{_number(cell)} \\small({escaped(note)})" if note else _number(cell)
