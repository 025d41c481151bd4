"""Plots of results: plotly's figure, and a picture and numbers that need no JavaScript."""

from __future__ import annotations

from paimonlab.notebook.results.plotting.plot import Plot, plot_of

__all__ = ["Plot", "plot_of"]
