"""SQL without Spark: statements in Spark's dialect, answered by DuckDB over scans of tables.

Only what is proven to give Spark's rows is translated; all else is refused by name.
"""

from __future__ import annotations
