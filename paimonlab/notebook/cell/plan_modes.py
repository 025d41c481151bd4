"""How Spark's plan of a query can be written."""

from __future__ import annotations

from typing import Literal, TypeAlias

Explained: TypeAlias = Literal["formatted", "cost", "extended"]
"""How Spark writes a plan."""
