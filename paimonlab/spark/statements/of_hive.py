"""Statements about files of Hive's tables: ``MSCK REPAIR TABLE`` and ``LOAD DATA``.

Spark says of both that tables of catalogs do not have them, not what does the same there.

Source: apache/spark@v4.3.0 ``RepairTable``, ``RecoverPartitions``, ``LoadData``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from paimonlab.errors import DatabaseNotFoundError, TableNotFoundError, UnsupportedError
from paimonlab.spark.catalogs.places import place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.rows.statements import as_list
from paimonlab.table.format_tables.format_table import FormatTable

STATEMENTS_OF_HIVE: Mapping[str, str] = MappingProxyType(
    {
        "RepairTable": "MSCK REPAIR TABLE",
        "RecoverPartitions": "ALTER TABLE … RECOVER PARTITIONS",
        "LoadData": "LOAD DATA",
    }
)
"""How they are written, by the simple name of Spark's plan."""


def refuse_statement_of_hive(bridge: Bridge, plan: Any) -> None:
    """Refuse a statement for a table of ours, saying what to do instead; others are Spark's.

    Parameters
    ----------
    bridge
        The session.
    plan
        One of `STATEMENTS_OF_HIVE` as the parser made it.

    Raises
    ------
    UnsupportedError
        If there is such a table in a catalog of ours.
    """
    kind = str(plan.getClass().getSimpleName())
    statement = STATEMENTS_OF_HIVE[kind]
    place = place_of(bridge, as_list(bridge, plan.child().multipartIdentifier()), statement)
    if place is None:
        return
    try:
        table = place.catalog.opened(place.name)
    except (TableNotFoundError, DatabaseNotFoundError):
        return
    is_format_table = isinstance(table, FormatTable)
    name = f"{place.catalog_name}.{place.name}"
    if kind == "LoadData":
        instead = (
            f"use INSERT INTO {name} with a query of csv.`{plan.path()}`, parquet, orc or json"
            if is_format_table
            else f"use COPY INTO {name} FROM '{plan.path()}' FILE_FORMAT = (TYPE = CSV)"
        )
        raise UnsupportedError(f"{statement} INTO TABLE {name}", instead)
    raise UnsupportedError(
        f"{statement} of {name}",
        "nothing is to be repaired: its partitions are the folders that there are"
        if is_format_table
        else "nothing is to be repaired: a table knows its partitions by its commits; "
        "CALL sys.remove_unexisting_files takes lost files out of it",
    )
