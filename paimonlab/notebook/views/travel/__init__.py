"""Rows as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.notebook.views.travel import named_columns as named_columns

__getattr__, __dir__ = attributes_on_use(__name__, "named_columns")
