"""`verify_bundle`: compute the scores of a bundle again and compare them with the stored ones."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from msgspec.structs import replace

from keju import __version__
from keju.bundles.environment import describe_environment
from keju.bundles.index import number_groups
from keju.bundles.key_check import check_keys
from keju.bundles.manifest import (
    BUNDLE_MANIFEST,
    DECISIONS,
    GRADES,
    RESPONSES,
    RUN,
    RUN_ITEMS,
    scores_member,
    unknown_members,
)
from keju.bundles.manifest_check import check_manifests
from keju.bundles.reading import Bundle, open_bundle
from keju.bundles.rebuilding import rebuild_items
from keju.bundles.response_check import check_responses
from keju.bundles.score_comparison import ScoresToCompare, compare_scores
from keju.bundles.staging import StoredGrade
from keju.bundles.verification import (
    AuditFinding,
    DatasetUsed,
    Findings,
    Verification,
    meaning_of_verified,
)
from keju.datasets.store import Dataset
from keju.definitions import benchmark, definition, register_definition
from keju.definitions.protocols import PROTOCOL_ROWS, STORED
from keju.encoders import Encoders
from keju.errors import DataError, UsageError
from keju.files import read_jsonl, write_json
from keju.items import Protocol, get_group
from keju.published import audit_run
from keju.runs import RunFolder, RunManifest
from keju.scoring import NO_DECISIONS, Decisions, score_models
from keju.scoring.stored import iter_scores_of, read_frames, scores_path
from keju.texts import _

_TOKENIZERS = ("jieba", "zhconv", "opencc")
"""The packages whose versions are part of signatures."""
_MOST_DECISIONS = 1 << 28
"""Bytes of the largest decisions that are read; those on a million answers have half of them."""


def verify_bundle(
    path: Path,
    dataset: Path | None = None,
    *,
    encoders: Encoders | None = None,
    verified_by: str = "",
) -> Verification:
    """Verify a bundle: hashes, items, and all scores, which are computed again.

    The bundle is untrusted: its content is never executed. It is unpacked into a temporary folder.

    Args:
        path: the bundle.
        dataset: the dataset of the run; None uses the data in the bundle, if it has them.
        encoders: the text encoders for metrics that need one.
        verified_by: the name to store in the verification; empty for none.

    Raises:
        DataError: the file is not a bundle that can be read, or the dataset is damaged.
        UsageError: there is no dataset at that path, or another definition of a benchmark is
            registered.
        PluginError: a plug-in that a definition names is missing.
    """
    opened = Dataset.open(dataset) if dataset else None
    with open_bundle(path) as bundle, tempfile.TemporaryDirectory(prefix="keju-verify-") as name:
        findings = Findings()
        verifier = _Verifier(bundle, opened, Path(name), encoders or Encoders({}), findings)
        audit = verifier.verify()
        return Verification(
            bundle=path.name,
            bundle_sha256=bundle.sha256,
            result=findings.result,
            meaning=meaning_of_verified(),
            verified_by=verified_by,
            verified=datetime.now(UTC).isoformat(timespec="seconds"),
            keju=__version__,
            command=f"keju verify {path.name}" + (" --dataset DATASET" if opened else ""),
            environment=describe_environment(),
            dataset=_dataset_used(bundle, opened),
            models=tuple(bundle.models),
            checks=findings.checks,
            differences=tuple(findings.differences),
            more_differences=findings.difference_count - len(findings.differences),
            not_verified=findings.not_verified,
            audit=tuple(audit),
        )


def _dataset_used(bundle: Bundle, dataset: Dataset | None) -> DatasetUsed | None:
    if dataset is not None:
        of = dataset.manifest
        return DatasetUsed(name=of.name, version=of.version, hash=of.hash, included=False)
    about = bundle.manifest.dataset
    if not about.included:
        return None
    return DatasetUsed(name=about.name, version=about.version, hash=about.hash, included=True)


class _Verifier:
    """The steps of one verification, in their order."""

    def __init__(
        self,
        bundle: Bundle,
        dataset: Dataset | None,
        work: Path,
        encoders: Encoders,
        findings: Findings,
    ) -> None:
        self._bundle, self._dataset, self._encoders = bundle, dataset, encoders
        self._findings = findings
        self._run = RunFolder(work / "run")
        self._readable: list[str] = []
        self._groups: dict[str, str] = {}

    def verify(self) -> list[AuditFinding]:
        """Make all comparisons; returns the findings of the audit."""
        for member, problem in self._bundle.extract_all():
            self._findings.add_difference("members", member, "", problem)
        self._findings.add_compared("members", len(self._bundle.manifest.members))
        for member in unknown_members(self._bundle.manifest):
            self._findings.add_difference(
                "members", member, "", _("keju does not write such a member and does not read it")
            )
        try:
            check_manifests(self._bundle, self._dataset, self._findings)
            usable = self._compare_definitions()
        except DataError as error:
            self._add_damage("manifest", error)
            return []
        if not usable:
            return []
        self._check_grades()
        try:
            self._write_run()
        except DataError as error:
            self._add_damage("items", error)
            return []
        self._readable = [
            model
            for model in self._bundle.models
            if check_responses(self._bundle, self._run, model, self._findings)
        ]
        return self._audit() if self._rebuild() and self._score() else []

    def _add_damage(self, check: str, error: DataError) -> None:
        self._findings.add_difference(check, error.item or BUNDLE_MANIFEST, "", error.problem)

    def _compare_definitions(self) -> bool:
        """Compare the definitions with those of keju or of the dataset; register the others.

        Returns:
            Whether every benchmark that the run defines has the same definition in the bundle.
        """
        usable = self._bundle.run_manifest.benchmarks.keys() <= self._bundle.definitions().keys()
        for name, text in self._bundle.definitions().items():
            member = next(e.definition for e in self._bundle.manifest.benchmarks if e.name == name)
            own = self._bundle.run_manifest.benchmarks.get(name)
            entry = definition(name)
            definition_text = entry.text if entry else own or ""
            self._findings.add_compared("definitions")
            if text == definition_text and own in {None, text}:
                register_definition(text, member)
                self._compare_version(name)
            elif self._bundle.manifest.keju == __version__ or own is not None:
                line = _first_difference(text, definition_text)
                problem = _("the definition differs from the one of keju or of the dataset")
                self._findings.add_difference("definitions", member, f"line {line}", problem)
                usable = usable and own is None
            else:
                part = _("definition of {}", name)
                self._findings.add_not_verified(part, self._other_version(), needed=False)
        return usable

    def _compare_version(self, name: str) -> None:
        stated = next(e.version for e in self._bundle.manifest.benchmarks if e.name == name)
        if stated != benchmark(name).version:
            problem = _("the field differs from bundle.json, or from the dataset")
            self._findings.add_difference(
                "definitions", BUNDLE_MANIFEST, f"benchmarks.{name}.version", problem
            )

    def _other_version(self) -> str:
        return _("written by keju {}, and this is keju {}", self._bundle.manifest.keju, __version__)

    def _check_grades(self) -> None:
        """Count the grades of judges, which cannot be computed again without the judge."""
        if GRADES not in self._bundle.manifest.members:
            return
        path = self._bundle.file(GRADES)
        try:
            items = {each.id for each in self._bundle.items()}
            for grade in read_jsonl(path, StoredGrade):
                self._findings.add_compared("grades")
                part = _("grades of the judge {}", grade.judge)
                self._findings.add_not_verified(
                    part,
                    _("a grade cannot be computed again without the judge"),
                    count=1,
                    needed=False,
                )
                if grade.item not in items or grade.model not in self._bundle.manifest.models:
                    problem = _("the item or the model of the grade is not in the bundle")
                    self._findings.add_difference("grades", GRADES, grade.item, problem)
        except DataError as error:
            self._findings.add_difference("grades", GRADES, error.item or "", error.problem)

    def _write_run(self) -> None:
        """Write the run without its scores to the working folder.

        Raises:
            DataError: the items in the bundle are damaged or too large to be read.
        """
        if RUN_ITEMS in self._bundle.manifest.members:
            self._bundle.table(RUN_ITEMS)
        self._bundle.extract_run(self._run.path)
        manifest: RunManifest = self._bundle.run_manifest
        # The path belongs to another machine; files at this path must not be read here.
        cleared = replace(manifest, items_sha256="", dataset_path="")
        write_json(self._run.manifest_path, cleared)

    def _rebuild(self) -> bool:
        """Write the items to the run.

        Returns:
            Whether scores can be computed from them.
        """
        if self._dataset is None and not self._bundle.manifest.dataset.included:
            name = self._bundle.manifest.dataset.name
            part = _("all scores")
            self._findings.add_not_verified(
                part, _("the bundle contains no data. Give the dataset {} with --dataset", name)
            )
            return False
        try:
            return rebuild_items(self._bundle, self._dataset, self._run.items_path, self._findings)
        except DataError as error:
            # An error of the dataset that was given is not one of the bundle.
            if self._dataset is not None and error.file not in {None, str(self._bundle.path)}:
                raise
            self._add_damage("items", error)
            return False

    def _score(self) -> bool:
        """Compute and compare the scores and the keys.

        Returns:
            Whether all of them could be computed.
        """
        same = self._is_same_program()
        self._groups = number_groups(map(get_group, self._run.iter_items()))
        for model in set(self._bundle.models) - set(self._readable):
            for path in self._run.response_files(model):
                path.unlink()
        try:
            decisions = self._decisions()
            for scored in score_models(
                self._run, self._protocols(), self._encoders, decisions=decisions
            ):
                model = scored.model
                about = self._bundle.manifest.models.get(model)
                same_program = same and about is not None and about.scored_by == __version__
                self._compare(model, same_program=same_program)
        except DataError as error:
            self._findings.add_difference(
                "responses", _member_of(error), error.item or "", error.problem
            )
            return False
        except UsageError as error:
            # A response names a wording or a task that does not exist.
            self._findings.add_difference("responses", RESPONSES, "", error.problem)
            return False
        if self._bundle.run_manifest.keju != __version__:
            version = self._bundle.run_manifest.keju
            reason = _("written by keju {}, and this is keju {}", version, __version__)
            self._findings.add_not_verified(_("keys of all responses"), reason, needed=False)
        else:
            check_keys(self._bundle, self._run, self._dataset, self._readable, self._findings)
        return len(self._readable) == len(self._bundle.models)

    def _protocols(self) -> tuple[Protocol, ...]:
        """The protocols to score under: the default ones, and others that a model has scores of."""
        further: set[str] = set()
        for model in self._bundle.models:
            # A damaged or missing table is reported when its scores are compared.
            with suppress(DataError, KeyError):
                for frame in read_frames(self._bundle.table(scores_member(model))):
                    further.update(frame["protocol"].unique())
        return tuple(name for name in PROTOCOL_ROWS if name in {*STORED, *further})

    def _decisions(self) -> Decisions:
        """The decisions on unclear answers, which follow from no response."""
        if DECISIONS not in self._bundle.manifest.members:
            return NO_DECISIONS
        decisions = self._bundle.read(DECISIONS, Decisions, _MOST_DECISIONS)
        self._findings.add_not_verified(
            _("decisions on unclear answers"),
            _("a decision of people or of an extractor model cannot be computed again"),
            count=len(decisions.by_code),
            needed=False,
        )
        return decisions

    def _compare(self, model: str, *, same_program: bool) -> None:
        member, path = scores_member(model), scores_path(self._run, model)
        if member not in self._bundle.manifest.members:
            self._findings.add_difference(
                "scores",
                member,
                "",
                _("the bundle does not contain this member", hint="Ask for the file again"),
            )
            return
        try:
            every = get_args(Protocol)
            stored = iter_scores_of(self._bundle.table(member), every)
            computed = iter_scores_of(path, every) if path.is_file() else iter(())
            scores = ScoresToCompare(member, same_program, self._groups)
            compare_scores(scores, stored, computed, self._findings)
        except DataError as error:
            self._findings.add_difference("scores", member, "", error.problem)

    def _is_same_program(self) -> bool:
        """Whether the text packages have the same versions as in the bundle."""
        for version in dict.fromkeys(
            each.scored_by for each in self._bundle.manifest.models.values() if each.scored_by
        ):
            if version != __version__:
                reason = _("written by keju {}, and this is keju {}", version, __version__)
                part = _("signatures")
                self._findings.add_not_verified(part, reason, needed=False)
        now = describe_environment()
        try:
            stored = self._bundle.environment
        except DataError as error:
            self._add_damage("members", error)
            return False
        others = [name for name in _TOKENIZERS if stored.get(name) != now.get(name)]
        if others:
            reason = _("environment.json has different versions of {}", ", ".join(others))
            part = _("signatures")
            self._findings.add_not_verified(part, reason, needed=False)
        return not others

    def _audit(self) -> list[AuditFinding]:
        if self._findings.difference_count:
            # The run differs from its bundle, and its tasks may not exist.
            return []
        return [
            AuditFinding(check=each.check, severity=each.severity, place=each.place, says=each.says)
            for each in audit_run(self._run.path).findings
        ]


def _member_of(error: DataError) -> str:
    """The member that stores the file or folder of responses which an error names."""
    parts = Path(error.file or "").parts
    return "/".join((RUN, *parts[parts.index("responses") :])) if "responses" in parts else RUN


def _first_difference(text: str, other: str) -> int:
    """The number of the first line in which two texts differ."""
    lines: Iterator[tuple[str, str]] = zip(text.splitlines(), other.splitlines(), strict=False)
    number = 0
    for number, (one, two) in enumerate(lines, start=1):
        if one != two:
            return number
    return number + 1


def write_statement(verification: Verification, path: Path) -> None:
    """Write a verification as JSON, in English."""
    write_json(path, verification)
