"""The benchmark's name, and its tasks by number."""

from keju.definitions import Task, task

BENCHMARK = "MCS-Bench"


def task_numbered(number: int) -> Task:
    """The task that the authors' files number so, 1 to 45.

    Raises:
        UsageError: no task has that number.
    """
    return task(f"T{number}")
