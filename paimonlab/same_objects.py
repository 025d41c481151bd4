"""What is found out once of objects that never change, such as the columns of a schema."""

from __future__ import annotations

from operator import is_
from typing import TypeVar

T_co = TypeVar("T_co", covariant=True)

MOST_REMEMBERED = 256
"""Objects in a tuple above which nothing is remembered of it: that much might be kept of many."""


class SameObjects(tuple[T_co, ...]):
    """A key for ``functools.lru_cache``: equal to tuples of the very same objects.

    Comparing columns by their values takes longer than most of what is made of them.

    >>> name = "".join(["a", "b"])
    >>> SameObjects([name]) == SameObjects([name]), SameObjects([name]) == SameObjects(["ab"])
    (True, False)
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SameObjects)
            and len(self) == len(other)
            and all(map(is_, self, other))
        )

    def __ne__(self, other: object) -> bool:
        return not self == other
