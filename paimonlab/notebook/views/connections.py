"""The connections of a notebook."""

from __future__ import annotations

import msgspec


class ConnectionEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One connection, open or only configured."""

    alias: str
    engine: str
    """``spark`` or ``native``."""
    catalog: str
    """Name of the catalog in SQL."""
    warehouse: str
    """Without credentials."""
    state: str
    """``current``, ``open`` or ``configured``."""


class ConnectionList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The connections that are open, and those that are configured and not open."""

    connections: tuple[ConnectionEntry, ...]
