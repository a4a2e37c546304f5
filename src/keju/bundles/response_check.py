"""`check_responses`: compare a model's responses with the hashes and counts in the bundle."""

from __future__ import annotations

from pathlib import Path

from keju import __version__
from keju.bundles.manifest import (
    BUNDLE_MANIFEST,
    RUN_MANIFEST,
    responses_folder,
    scores_member,
)
from keju.bundles.reading import Bundle
from keju.bundles.tables import count_rows
from keju.bundles.verification import Findings
from keju.errors import DataError
from keju.runs import RunFolder
from keju.scoring import read_fingerprint
from keju.scoring.score import check_response
from keju.scoring.stored import Fingerprint, changed_files
from keju.texts import _

_CHECK = "responses"


def check_responses(bundle: Bundle, run: RunFolder, model: str, findings: Findings) -> bool:
    """Compare a model's responses with the hashes that are stored with its scores, and count both.

    Args:
        bundle: the bundle.
        run: its run as it was unpacked.
        model: the model's name.
        findings: gets the differences.

    Returns:
        Whether the responses can be read.
    """
    member = scores_member(model)
    try:
        scored = None
        if member in bundle.manifest.members:
            scored = read_fingerprint(bundle.table(member))
            _check_fingerprint(bundle, model, scored, findings)
        if scored is not None:
            findings.add_compared(_CHECK, bundle.manifest.models[model].responses)
            for name in changed_files(run, model, scored):
                where = f"{responses_folder(model)}/{name}"
                problem = _("the file of responses differs from what was scored")
                findings.add_difference(_CHECK, where, "", problem)
        _check_counts(bundle, run, model, findings)
    except DataError as error:
        place = Path(error.file or "")
        named = place.suffix == ".jsonl"
        where = f"{responses_folder(model)}/{place.name}" if named else member
        findings.add_difference(_CHECK, where, (error.item or "") if named else "", error.problem)
        return False
    return True


def _check_fingerprint(
    bundle: Bundle, model: str, scored: Fingerprint | None, findings: Findings
) -> None:
    """Check the version of keju and the hash of the items that are stored with the scores."""
    stated, run = bundle.manifest.models[model].scored_by, bundle.run_manifest
    problem = _("the field differs from bundle.json, or from the dataset")
    if (scored.keju if scored else "") != stated and (scored or stated == __version__):
        findings.add_difference(_CHECK, BUNDLE_MANIFEST, f"models.{model}.scored_by", problem)
    elif scored is None:
        part = _("hashes of the responses of {}", model)
        now = _("written by keju {}, and this is keju {}", bundle.manifest.keju, __version__)
        findings.add_not_verified(part, now, needed=False)
    if scored and run.items_sha256 not in {"", scored.items}:
        findings.add_difference(_CHECK, RUN_MANIFEST, "items_sha256", problem)


def _check_counts(bundle: Bundle, run: RunFolder, model: str, findings: Findings) -> None:
    member = scores_member(model)
    scores = count_rows(bundle.table(member)) if member in bundle.manifest.members else 0
    about = bundle.manifest.models[model]
    counts = {
        "responses": (about.responses, _count(run, model)),
        "scores": (about.scores, scores),
    }
    for name, (stated, found) in counts.items():
        if stated != found:
            problem = _("the count is {:,}, but the bundle contains {:,}", stated, found)
            findings.add_difference(_CHECK, BUNDLE_MANIFEST, f"models.{model}.{name}", problem)


def _count(run: RunFolder, model: str) -> int:
    """The number of responses of a model.

    Raises:
        DataError: a line is damaged, or it cannot be scored.
    """
    count = 0
    for response in run.responses(model):
        count += 1
        check_response(response, run)
    return count
