"""How well the texts of a page can be told from what lies behind them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator

LEAST = 4.5
"""WCAG 2.1, level AA, text of ordinary size."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """A text that is seen, and its ratio."""

    text: str
    ratio: float
    colour: str
    background: str


def contrasts(place: Locator) -> list[Contrast]:
    """Return the contrast of every text that is seen inside an element, shadow roots included.

    Colours are those that the browser computed. Behind a text are the backgrounds of what it
    stands in and, in a picture, the shapes under its middle.
    """
    return [Contrast(**one) for one in place.evaluate(_SCRIPT)]


_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
