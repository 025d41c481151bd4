"""A fold: an aggregate function that takes one value after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.errors import DataError
from paimonlab.spec.aggregate import Aggregate

Step = Callable[[Any, Any], Any]
"""From the value so far and another one to the next; None is null."""


def _nothing() -> None:
    """Forget nothing."""


class Fold(Struct, frozen=True, kw_only=True):
    """An aggregate function over the rows of one column."""

    value: Callable[[int], Any]
    """The value of a row by its position, as the steps take it."""
    add: Step
    """Takes a newer value."""
    retract: Step | None
    """Takes a value away; None: the function cannot."""
    column: Callable[[Sequence[Any]], pa.Array]
    """Makes a column of values."""
    add_older: Step | None = None
    """Takes an older value; None: the two change places."""
    reset: Callable[[], None] = _nothing
    """Forgets the rows of the key before."""

    def older(self, value: Any, other: Any) -> Any:
        """Take a value that is older than the one so far."""
        if self.add_older is not None:
            return self.add_older(value, other)
        return self.add(other, value)

    def guarded(self, aggregate: Aggregate, name: str) -> Fold:
        """Return the fold with retractions treated as the column's options say."""
        if aggregate.ignore_retract:
            return replace(self, retract=lambda value, _: value)
        if self.retract is not None:
            return self

        def refuse(_: Any, __: Any) -> Any:
            raise retraction_refused(aggregate, name)

        return replace(self, retract=refuse)


def retraction_refused(aggregate: Aggregate, name: str) -> DataError:
    """Make the error for a retraction that the function does not support."""
    return DataError(
        f"column {name!r}: the aggregate function {aggregate.function!r} takes nothing back, and "
        f"there are rows of kind -U or -D; 'fields.{name}.ignore-retract' = 'true' ignores them"
    )


def skipping_nulls(step: Step) -> Step:
    """Let a null on either side leave the other."""

    def skipping(old: Any, new: Any) -> Any:
        if old is None or new is None:
            return new if old is None else old
        return step(old, new)

    return skipping
