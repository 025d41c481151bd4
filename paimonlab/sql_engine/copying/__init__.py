"""``COPY INTO`` without Spark: files of the local disk into tables, and rows into files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.sql_engine.copying import statement as statement

__getattr__, __dir__ = attributes_on_use(__name__, "statement")
