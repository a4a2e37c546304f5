"""`lacks_image`: whether a request is about an image that its item does not have."""

from __future__ import annotations

from keju.definitions import has_task, task
from keju.items import Request


def lacks_image(request: Request) -> bool:
    """Whether the image that the question is about is missing.

    Tasks whose definition declares them as tasks about texts (`Query.image`) need none.
    """
    if request.images or request.source or request.setting != "image":
        return False
    if not has_task(request.task):
        return True
    queries = task(request.task).queries
    return all(each.image for each in queries if each.name == request.query)
