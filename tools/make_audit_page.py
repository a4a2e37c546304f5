"""Write the pages of the audit of the three papers' tables: docs/audit.md and its companions.

    python -m tools.make_audit_page [DIR]

Into DIR (default docs): audit.md and audit.zh.md, audit-claims.md and audit-claims.zh.md, and
audit-cells.csv with every cell of every finding. The test suite compares them with this output.
"""

from __future__ import annotations

import sys
from pathlib import Path

from keju.published import audit_published
from keju.reporting.audit_cells import write_cells
from keju.reporting.audit_page import audit_page, claims_page

DOCS = Path(__file__).resolve().parents[1] / "docs"


def main(folder: Path = DOCS) -> None:
    """Write all five files."""
    audit = audit_published()
    (folder / "audit.md").write_text(audit_page(audit, "en"), "utf-8")
    (folder / "audit.zh.md").write_text(audit_page(audit, "zh"), "utf-8")
    (folder / "audit-claims.md").write_text(claims_page(audit, "en"), "utf-8")
    (folder / "audit-claims.zh.md").write_text(claims_page(audit, "zh"), "utf-8")
    write_cells(audit, folder / "audit-cells.csv")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
