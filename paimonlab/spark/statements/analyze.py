"""``ANALYZE TABLE t COMPUTE STATISTICS [FOR COLUMNS … | FOR ALL COLUMNS]``.

Source: apache/spark@v4.3.0 ``AnalyzeTable``, ``AnalyzeColumn``; apache/paimon@5dacde5
``PaimonAnalyzeTableColumnCommand``.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import StructType

from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.places import place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.commands import command
from paimonlab.spark.rows.statements import as_list
from paimonlab.spark.statements.partitions import table_at
from paimonlab.spark.writing.workers import SparkWorkers
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.upkeep.analyze import analyze_table


def analyze_command(bridge: Bridge, plan: Any) -> Any:
    """Return the command that computes statistics, or None: not of a table of ours.

    Parameters
    ----------
    bridge
        The session.
    plan
        An ``AnalyzeTable``, ``AnalyzeTables`` or ``AnalyzeColumn`` as the parser made it.

    Raises
    ------
    UnsupportedError
        For statistics of partitions, or without a look at the rows: Paimon keeps none; and for the
        tables of a database at once.
    """
    if plan.getClass().getSimpleName() == "AnalyzeTables":
        return _refused_tables(bridge, plan)
    place = place_of(bridge, as_list(bridge, plan.child().multipartIdentifier()), "ANALYZE TABLE")
    table = None if place is None else table_at(place)
    if table is None:
        return None
    columns: list[str] | None = []
    if plan.getClass().getSimpleName() == "AnalyzeColumn":
        columns = None if plan.allColumns() else as_list(bridge, plan.columnNames().get())
    elif not plan.partitionSpec().isEmpty():
        raise UnsupportedError(
            f"ANALYZE TABLE {table.name} PARTITION",
            "statistics are of the whole table; rows and bytes of a partition are in $partitions",
        )
    elif plan.noScan():
        raise UnsupportedError(
            f"ANALYZE TABLE {table.name} … NOSCAN", "use COMPUTE STATISTICS, which reads the table"
        )

    def run(session: Any) -> list[list[int]]:
        del session
        spelled = {name.lower(): name for name in table.schema.field_names}
        chosen = None if columns is None else [spelled.get(one.lower(), one) for one in columns]
        definition, store = definition_of(table), store_of(table)
        analyze_table(definition, store, chosen, workers=SparkWorkers(bridge))
        return []

    return command(bridge, run, f"ANALYZE TABLE {table.name}", StructType())


def _refused_tables(bridge: Bridge, plan: Any) -> None:
    """Refuse ``ANALYZE TABLES``, which Spark itself fails to plan, in a catalog of ours."""
    parts = [str(part) for part in as_list(bridge, plan.child().multipartIdentifier())]
    if place_of(bridge, [*parts, "t"], "ANALYZE TABLES IN") is not None:
        raise UnsupportedError(
            f"ANALYZE TABLES IN {'.'.join(parts)}", "use ANALYZE TABLE for one table at a time"
        )
