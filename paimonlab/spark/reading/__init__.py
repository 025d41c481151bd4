"""A read in Spark: which files its own scan reads, with which masks, and which we read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.spark.reading import time_travel as time_travel

__getattr__, __dir__ = attributes_on_use(__name__, "time_travel")
