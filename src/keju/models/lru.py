"""`LruCache`: a cache of recently computed values, limited in number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

_T = TypeVar("_T")


class LruCache(Generic[_T]):
    """Keeps the last `capacity` values that were requested, by key.

    A gallery shows the same image to every query, and several questions are about one page: the
    value computed from the image is cached, the image is not. Thread-safe.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._turn = Lock()
        self._kept: OrderedDict[Hashable, _T] = OrderedDict()

    def get(self, key: Hashable, work_out: Callable[[], _T]) -> _T:
        """The value of that key; `work_out` is called only if it is not cached."""
        with self._turn:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            self._kept[key] = found = work_out()
            if len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
            return found
