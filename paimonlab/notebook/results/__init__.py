"""What a statement returns: rows, their table, plots, profiles, files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.notebook.results import spark_fetch as spark_fetch

__getattr__, __dir__ = attributes_on_use(__name__, "spark_fetch")
