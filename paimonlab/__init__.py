"""Apache Paimon tables in Python, on Spark, in notebooks."""

from __future__ import annotations

__version__ = "0.1.0"
