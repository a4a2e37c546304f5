"""The papers' results as data, and the audit of them."""

from keju.published.audit import Audit, Finding, Held, audit_published
from keju.published.groups import AVERAGE, group_of
from keju.published.leaderboard import audit_leaderboard
from keju.published.models import (
    DETAILS,
    Kind,
    PublishedModel,
    Role,
    published_model,
    published_models,
)
from keju.published.own import OF_A_RUN, audit_run
from keju.published.rebuild import Rebuilt, rebuild
from keju.published.tables import Cell, Column, PrintedTable, papers, published_tables
from keju.published.values import PublishedValue, published_values

__all__ = [
    "AVERAGE",
    "DETAILS",
    "OF_A_RUN",
    "Audit",
    "Cell",
    "Column",
    "Finding",
    "Held",
    "Kind",
    "PrintedTable",
    "PublishedModel",
    "PublishedValue",
    "Rebuilt",
    "Role",
    "audit_leaderboard",
    "audit_published",
    "audit_run",
    "group_of",
    "papers",
    "published_model",
    "published_models",
    "published_tables",
    "published_values",
    "rebuild",
]
