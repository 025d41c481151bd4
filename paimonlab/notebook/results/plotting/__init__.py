"""Plots and bar charts: plotly's figure, and a picture and numbers that need no JavaScript."""
