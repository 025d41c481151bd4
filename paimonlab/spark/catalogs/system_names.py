"""What to write for names of tables about tables that users of Iceberg type: ``t.snapshots``.

Source: Iceberg 1.10 ``MetadataTableType``, ``SparkCatalog.load``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "snapshots": "snapshots",
        "history": "snapshots",
        "metadata_log_entries": "schemas",
        "refs": "tags",
        "partitions": "partitions",
        **dict.fromkeys(("manifests", "all_manifests"), "manifests"),
        **dict.fromkeys(("files", "data_files", "all_files", "all_data_files", "entries"), "files"),
    }
)
"""Paimon's names by Iceberg's."""


def instead_of(table: str, name: str) -> str | None:
    """Say what stands here for ``table.name``; None if users of Iceberg do not write that.

    Examples
    --------
    >>> instead_of("t", "Files"), instead_of("t", "orders")
    ('write `t$files`', None)
    >>> instead_of("t", "history")
    'write `t$snapshots`, or DESCRIBE HISTORY t'
    >>> instead_of("t", "tag_monday"), instead_of("t", "branch_dev")
    ("write t VERSION AS OF 'monday'", 'write `t$branch_dev`')
    """
    known = _NAMES.get(name.lower())
    if known is not None:
        described = f", or DESCRIBE HISTORY {table}" if name.lower() == "history" else ""
        return f"write `{table}${known}`{described}"
    if name.startswith("branch_"):
        return f"write `{table}${name}`"
    if name.startswith("tag_"):
        return f"write {table} VERSION AS OF '{name.removeprefix('tag_')}'"
    return None
