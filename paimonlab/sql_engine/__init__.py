"""SQL without Spark: statements in Spark's dialect, answered by DuckDB over scans of tables.

Only what is proven to give Spark's rows is translated; all else is refused by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.sql_engine import changes as changes
    from paimonlab.sql_engine import copying as copying
    from paimonlab.sql_engine import dry_runs as dry_runs
    from paimonlab.sql_engine import engine as engine
    from paimonlab.sql_engine import first_words as first_words
    from paimonlab.sql_engine import refusal as refusal
    from paimonlab.sql_engine import statements as statements
    from paimonlab.sql_engine import tables as tables

__getattr__, __dir__ = attributes_on_use(
    __name__,
    *("changes", "copying", "dry_runs", "engine", "first_words", "refusal", "statements", "tables"),
)
