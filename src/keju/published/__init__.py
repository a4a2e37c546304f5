"""The papers' results as data, and the audit of them."""

from keju.published.audit import OF_A_RUN, Audit, Finding, PassedCheck, UnreadCells, audit_published
from keju.published.checks import Size
from keju.published.claims import ClaimDecision
from keju.published.leaderboard import audit_leaderboard
from keju.published.models import (
    AVERAGE,
    PublishedModel,
    group_of,
    published_model,
    published_models,
)
from keju.published.papers import (
    ClassFigure,
    InputTable,
    PrintedFigure,
    SettingFigure,
    SettingMean,
    paper,
    paper_galleries,
    papers,
)
from keju.published.run_audit import audit_run
from keju.published.sections import Section, benchmarks_of, sections
from keju.published.sources import TaskSources, task_sources
from keju.published.tables import Column, PrintedTable, published_tables
from keju.published.values import published_values

__all__ = [
    "AVERAGE",
    "OF_A_RUN",
    "Audit",
    "ClaimDecision",
    "ClassFigure",
    "Column",
    "Finding",
    "InputTable",
    "PassedCheck",
    "PrintedFigure",
    "PrintedTable",
    "PublishedModel",
    "Section",
    "SettingFigure",
    "SettingMean",
    "Size",
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
