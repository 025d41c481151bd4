"""Lists of connections."""

from __future__ import annotations

from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Column, Grid, texts
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.connections.value import ConnectionList

_HEADS = ("alias", "engine", "catalog", "warehouse", "state", "line")


def draw_connections(listed: ConnectionList) -> Drawn[ConnectionList]:
    """Draw the connections of a notebook."""
    body = [texts([getattr(entry, head) for head in _HEADS]) for entry in listed.connections]
    count = len(listed.connections)
    footer = f"{count} connection" if count == 1 else f"{count} connections"
    grid = Grid(tuple(map(Column, _HEADS)), body, footer=footer)
    return Drawn(listed, grid, rows(listed.connections))
