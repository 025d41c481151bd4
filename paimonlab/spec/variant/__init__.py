"""VARIANT values: their bytes to JSON texts and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.spec.variant import shredded as shredded

__getattr__, __dir__ = attributes_on_use(__name__, "shredded")
