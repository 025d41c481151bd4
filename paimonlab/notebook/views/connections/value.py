"""The connections of a notebook."""

from __future__ import annotations

import msgspec


class ConnectionEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One connection, open or only configured."""

    alias: str
    engine: str
    """``spark``, ``native`` or ``connect``: a Spark Connect server."""
    catalog: str
    """Name of the catalog in SQL; empty if it is known only once connected."""
    warehouse: str
    """Without credentials; that of a server, or the variable that has it."""
    state: str
    """``current``, ``open``, ``configured`` in a file, or ``offered`` by the environment."""
    line: str
    """What to type to use it."""


class ConnectionList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The connections that are open, and those that are configured or on offer and not open."""

    connections: tuple[ConnectionEntry, ...]
