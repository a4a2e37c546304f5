"""`lacks_image`: whether a request asks about an image but contains none."""

from __future__ import annotations

from keju.definitions import has_task, task
from keju.items import Request


def lacks_image(request: Request) -> bool:
    """Whether a request contains no image although its question needs one.

    Queries that are declared to be about text only (`Query.image` is false) need none.
    """
    if request.images or request.source or request.setting != "image":
        return False
    if not has_task(request.task):
        return True
    queries = task(request.task).queries
    return all(each.image for each in queries if each.name == request.query)
