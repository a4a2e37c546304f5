"""What was audited, and the transcription by itself."""

import csv

import pytest

from keju.published import audit_published

FILES = {"MCS-Bench": "mcs", "AncientDoc": "ancientdoc", "OBI-Bench": "obi"}


@pytest.fixture(scope="session")
def audit():
    return audit_published()


@pytest.fixture(scope="session")
def numbers(shared):
    """(table, task, domain, dataset, metric) to the printed text by model, of one benchmark."""

    def of(benchmark):
        columns = {}
        path = shared / "published" / f"{FILES[benchmark]}_results_long.csv"
        with path.open(encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                domain = row["domain"] if row["task"] in {"OverAll", "MCQ", "QA"} else ""
                domain = row["domain"] if benchmark == "OBI-Bench" else domain
                key = (row["table"], row["task"], domain, row["dataset"], row["metric"])
                columns.setdefault(key, {})[row["model"]] = row["value"]
        return columns

    return {name: of(name) for name in FILES}
