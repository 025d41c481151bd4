"""Plots and bar charts: plotly's figure, and a picture and numbers that need no JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.notebook.results.plotting import columns as columns
    from paimonlab.notebook.results.plotting import figure as figure
    from paimonlab.notebook.results.plotting import plot as plot

__getattr__, __dir__ = attributes_on_use(__name__, "columns", "figure", "plot")
