"""Rows to and from one data file.

Answers what a column of a file means under a table's schema (evolution, casts), reads the
rows of a file and writes them. Knows schemas and formats; must not know snapshots, levels or
which rows win.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.datafile import casts as casts

__getattr__, __dir__ = attributes_on_use(__name__, "casts")
