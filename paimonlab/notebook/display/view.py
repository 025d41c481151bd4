"""What every view has: a value, and the forms in which it is returned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import msgspec
import pyarrow as pa


class View(Protocol):
    """What a magic returns: a value that knows how to show itself."""

    @property
    def value(self) -> msgspec.Struct:
        """The Struct that is shown."""

    def to_arrow(self) -> pa.Table:
        """Return the rows as Arrow."""

    def to_markdown(self) -> str:
        """Return a Markdown table."""

    def to_html(self) -> str:
        """Return HTML without scripts and styles that a sanitiser would remove."""

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Return ``text/html`` and ``text/plain``."""


def rows(structs: Sequence[msgspec.Struct]) -> Callable[[], pa.Table]:
    """Return what makes an Arrow table of Structs of one class, a column for each field.

    It is asked for rarely, and to make it loads pandas.
    """
    return partial(_table, structs)


def _table(structs: Sequence[msgspec.Struct]) -> pa.Table:
    return pa.Table.from_pylist([_plain(struct) for struct in structs])


def _plain(value: Any) -> Any:
    """Turn Structs into dicts by the names that they have in Python."""
    if isinstance(value, msgspec.Struct):
        return {name: _plain(item) for name, item in msgspec.structs.asdict(value).items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
