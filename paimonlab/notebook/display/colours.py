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
BLACK = "#000000"

INK = "#222"
"""Text on a light ground."""
AXIS = "#999"
"""Lines from which values are measured."""
GROUND = "#fff"
"""What a picture is drawn on."""
RULE = "#ddd"
"""Lines that only lead the eye."""
ON_MARK = "white"
"""Letters on a coloured mark."""
ON_BRIGHT = "#000"
"""Letters and hatches on a bright colour."""
LINK = "#0061A0"
"""Text in the accent."""
NEW = "#8A3D6B"
"""Text of what begins."""
AMOUNTS = ("#DEEBF7", "#B3D2EA", "#86B6DC", "#5C9BCC", "#3C86BF")
"""The scale of amounts but for zero, as in ``browser/parts/amounts.js``."""
AMOUNT_EDGE = "#345"
"""Lines between amounts."""

DARK = {
    GROUND: "#111",
    INK: "#eee",
    RULE: "#444",
    LINK: SKY,
    NEW: "#E3A1C9",
    AMOUNT_EDGE: "#9ab",
    BLACK: "#eee",
    **dict(zip(AMOUNTS, ("#182B3B", "#1B3E5B", "#1F517A", "#256596", "#2F79B4"), strict=True)),
}
"""What stands for a colour where the page is dark; the others can be seen on both grounds."""
