"""Okabe and Ito's colours, which readers who do not see red or green can tell apart.

Whatever uses one adds a shape, a letter or a hatch. ``browser/parts/colours.js`` has the same.
"""

from __future__ import annotations

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
PINK = "#CC79A7"
SKY = "#56B4E9"
RED = "#D55E00"
YELLOW = "#F0E442"
GREY = "#7A7A7A"

INK = "#222"
"""Text on a light ground."""
AXIS = "#999"
"""Lines from which values are measured."""
