"""Which tables are format tables.

Source: apache/paimon@1.4.2 ``org.apache.paimon.TableType``.
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE = "type"
FORMAT_TABLE = "format-table"
"""The value of ``type`` that makes a table one."""
FILE_FORMAT = "file.format"
FORMATS = ("csv", "json", "text", "parquet", "orc")
"""What files of format tables are."""


def is_format_table(options: Mapping[str, object]) -> bool:
    """Whether options say that a table is a format table.

    Examples
    --------
    >>> is_format_table({"type": "FORMAT_TABLE"}), is_format_table({"type": "table"})
    (True, False)
    """
    return str(options.get(TYPE, "table")).lower().replace("_", "-") == FORMAT_TABLE
