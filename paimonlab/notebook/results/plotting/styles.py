"""How series differ: by colour, and by dash, mark or hatch for whoever sees no colours."""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.notebook.display.colours import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY


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
    Style(BLUE, "solid", "circle", ""),
    Style(ORANGE, "dash", "square", "/"),
    Style(GREEN, "dot", "diamond", "x"),
    Style(PINK, "dashdot", "triangle-up", "-"),
    Style(SKY, "longdash", "triangle-down", "|"),
    Style(RED, "longdashdot", "x", "+"),
    Style(GREY, "solid", "cross", "\\"),
    Style(BLACK, "dash", "star", "."),
)
"""One for each series that a plot can have."""
