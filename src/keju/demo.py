"""The whole way on the bundled set: ask, score, report. Offline, without a key."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from keju.datasets import mini
from keju.models import model_kinds
from keju.reporting import write_csv, write_report
from keju.reporting.terminal import scores_table
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import aggregate, score_run

MODELS = ("ppocr", "baseline:chance", "baseline:majority", "baseline:copy")


def demonstrate(folder: Path, console: Console) -> Path:
    """Run the OCR engine and the baselines on the bundled set, score and report.

    Args:
        folder: the run's folder; a demo that was broken off goes on where it stood.
        console: where progress and the summary go.

    Returns:
        The report's path.

    Raises:
        UsageError: `folder` holds something else.
        PrerequisiteError: the OCR engine is not installed.
    """
    dataset = mini.path()
    console.print(
        "The bundled set is synthetic: its scores say that the way works, not how good an engine "
        "is.",
        highlight=False,
    )
    summary = run(dataset, MODELS, folder, console=console)
    if not any(model.asked for model in summary.models):
        console.print(f"All answers were there already: delete {folder} to ask again.")
    scores = score_run(RunFolder.open(folder))
    report = folder / "report.html"
    gathered = write_report([folder], report, title="keju demo")
    write_csv(gathered, folder / "csv")
    kinds = {kind.spelling: kind.what for kind in model_kinds()}
    console.print(scores_table(aggregate(scores), MODELS))
    console.print(
        "baseline:copy only repeats the question: official finds the right letter in it, strict "
        "does not."
    )
    for name in MODELS:
        console.print(f"{name}: {kinds[name]}", highlight=False, markup=False)
    console.print(f"{summary.items} items · report: {report}", highlight=False, soft_wrap=True)
    return report
