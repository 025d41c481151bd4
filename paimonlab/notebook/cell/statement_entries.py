"""The statements that were run, and the values of a cell's parameters."""

from __future__ import annotations

import msgspec


class StatementEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One statement that was run."""

    number: int
    """Counted from 1 in a kernel."""
    time_millis: int | None
    """When it began, milliseconds since the epoch; None when times are hidden."""
    alias: str
    """Of the connection."""
    sql: str
    """Without secrets."""
    row_count: int | None
    """Rows fetched; None if it did not end well."""
    snapshots: str
    """Tables that were read, each ``table@snapshot`` where that is known."""
    duration_millis: int | None
    status: str
    """``done``, ``failed`` or ``cancelled``."""


class Statements(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="statements", tag_field="kind"
):
    """Statements that were run, newest first."""

    entries: tuple[StatementEntry, ...]
    older_count: int
    """Older ones that are known and not shown."""


class ParameterEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One ``:name`` of a statement."""

    name: str
    value: str
    """As it is written in Python, without secrets."""
    type: str
    """What Spark gets."""
    source: str
    """Where the value is from."""
    uses: str
    """Where in the cell it is used."""


class Parameters(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The values of a cell's parameters."""

    entries: tuple[ParameterEntry, ...]
