"""How series differ: by colour, and by dash, mark or hatch for whoever sees no colours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Style:
    """How a series is drawn, in plotly's words."""

    colour: str
    """One of Okabe and Ito's."""
    dash: str
    symbol: str
    hatch: str
    """Empty: none."""


STYLES = (
    Style("#0072B2", "solid", "circle", ""),
    Style("#E69F00", "dash", "square", "/"),
    Style("#009E73", "dot", "diamond", "x"),
    Style("#CC79A7", "dashdot", "triangle-up", "-"),
    Style("#56B4E9", "longdash", "triangle-down", "|"),
    Style("#D55E00", "longdashdot", "x", "+"),
    Style("#7A7A7A", "solid", "cross", "\\"),
    Style("#000000", "dash", "star", "."),
)
"""One for each series that a plot can have."""
