"""The papers' results as data, and the audit of them."""

from keju.published.audit import OF_A_RUN, Audit, Finding, PassedCheck, UnreadCells, audit_published
from keju.published.checks import Size
from keju.published.claims import ClaimDecision
from keju.published.leaderboard import audit_leaderboard
from keju.published.models import (
    AVERAGE,
    PublishedModel,
    Role,
    group_of,
    published_model,
    published_models,
)
from keju.published.papers import (
    ClassFigure,
    InputTable,
    Kind,
    Paper,
    PrintedFigure,
    SettingFigure,
    SettingMean,
    Summary,
    paper,
    paper_galleries,
    papers,
)
from keju.published.run_audit import audit_run
from keju.published.sections import Section, benchmarks_of, sections
from keju.published.sources import TaskSources, task_sources
from keju.published.tables import Cell, Column, PrintedTable, published_tables
from keju.published.values import PublishedValue, published_values

__all__ = [
    "AVERAGE",
    "OF_A_RUN",
    "Audit",
    "Cell",
    "ClaimDecision",
    "ClassFigure",
    "Column",
    "Finding",
    "InputTable",
    "Kind",
    "Paper",
    "PassedCheck",
    "PrintedFigure",
    "PrintedTable",
    "PublishedModel",
    "PublishedValue",
    "Role",
    "Section",
    "SettingFigure",
    "SettingMean",
    "Size",
    "Summary",
    "TaskSources",
    "UnreadCells",
    "audit_leaderboard",
    "audit_published",
    "audit_run",
    "benchmarks_of",
    "group_of",
    "paper",
    "paper_galleries",
    "papers",
    "published_model",
    "published_models",
    "published_tables",
    "published_values",
    "sections",
    "task_sources",
]
