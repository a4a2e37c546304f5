"""Write tests/slow_tests.txt, the tests that `make test` leaves to `make test-all`.

    .venv/bin/pytest -p tests.support.core --processor-seconds times.tsv
    python -m tools.choose_core times.tsv

A test function is listed if all its cases together used more than LIMIT seconds of the processor.
What was not measured stays as it is. The sum of the measured tests that remain is printed; shared
by two cores, it should be under four minutes together with the start of pytest.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from tests.support.core import LIST, function_of, listed

LIMIT = 0.25
KEPT = (
    "tests/test_cli.py::",
    "tests/test_make_targets.py::",
    "tests/cli/test_demo.py::test_a_demo_of_few_items_ends_with_the_report_and_a_summary",
    "tests/test_stale_scores.py::test_scores_of_the_stored_responses_are_shown",
    "tests/annotation/test_auth.py::test_only_this_machine_can_reach_it_by_default",
    "tests/building/choices/test_step.py::test_a_dataset_without_choices_is_refused",
    "tests/building/test_pipeline.py::test_a_build_is_called_after_its_recipe_and_is_no_other_s",
    "tests/building/test_reviewing.py::test_the_commands_export_and_import_a_review",
    "tests/cli/test_own_benchmark.py::test_a_draft_is_written_once_and_accepted",
    "tests/cli/test_own_benchmark.py::test_an_installed_package_provides_a_benchmark",
    "tests/cli/test_own_benchmark.py::test_show_names_licence_and_citation",
    "tests/definitions/test_without_reference.py::test_a_release_notes_how_many_have_none",
    "tests/test_page_exports.py::test_the_command_prints_what_was_written",
    "tests/judging/test_extracting.py::test_values_that_the_answer_contains_count_and_others_do_not",
    "tests/judging/test_cli.py::test_a_probe_of_a_judge_that_always_says_the_same",
    "tests/judging/test_cli.py::test_the_whole_way",
    "tests/scoring/test_own_metrics.py::"
    "test_a_plugin_file_reaches_scores_leaderboard_report_and_list",
)
"""Always in the core: a test of every command, whatever it costs."""
HEAD = """\
# Test functions that `make test` leaves to `make test-all`: all cases of each together need more
# than {limit} s of the processor. Written by `python -m tools.choose_core`; see there.
"""


def main(file: Path) -> None:
    """Choose by the measured seconds of a file."""
    seconds: dict[str, float] = defaultdict(float)
    for line in file.read_text("utf-8").splitlines():
        used, _, name = line.partition("\t")
        seconds[function_of(name)] += float(used)
    slow = {name for name, used in seconds.items() if used > LIMIT}
    slow |= set(listed()) - seconds.keys()
    slow -= {name for name in slow if name.startswith(KEPT)}
    LIST.write_text(
        HEAD.format(limit=LIMIT) + "".join(f"{name}\n" for name in sorted(slow)), "utf-8"
    )
    rest = sum(used for name, used in seconds.items() if name not in slow)
    print(f"{len(slow)} of {len(seconds)} functions are slow; the others need {rest:.0f} s")  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
