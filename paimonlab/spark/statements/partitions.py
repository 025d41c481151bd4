"""``ALTER TABLE t DROP PARTITION`` with values of some of the partition columns.

Spark wants all of them: it compares them before it asks the table. A statement that gives all is
Spark's own.

Source: apache/spark@v4.3.0 ``DropPartitions``, ``ResolvePartitionSpec``; apache/paimon@5dacde5
``PaimonDropPartitions``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql.types import StructType

from paimonlab.errors import DatabaseNotFoundError, DataError, TableNotFoundError, UnsupportedError
from paimonlab.spark.catalogs.places import Place, place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.commands import command
from paimonlab.spark.rows.statements import as_list
from paimonlab.spark.writing.partitions import Partitions
from paimonlab.table.table import Table


def drop_command(bridge: Bridge, plan: Any) -> Any:
    """Return the command that drops partitions, or None: Spark's own way is right.

    Parameters
    ----------
    bridge
        The session.
    plan
        A ``DropPartitions`` as the parser made it.

    Raises
    ------
    UnsupportedError
        For PURGE.
    """
    place = place_of(bridge, as_list(bridge, plan.table().multipartIdentifier()), "ALTER TABLE")
    table = None if place is None else table_at(place)
    if table is None:
        return None
    wanted = [_spec(bridge, part, table) for part in as_list(bridge, plan.parts())]
    keys = set(table.partition_keys)
    if not all(set(one) <= keys for one in wanted) or all(set(one) == keys for one in wanted):
        return None
    text = f"ALTER TABLE {table.name} DROP PARTITION " + ", ".join(map(str, wanted))
    if plan.purge():
        raise UnsupportedError("DROP PARTITION … PURGE", "use DROP PARTITION; expiry frees space")
    is_lenient = bool(plan.ifExists())

    def run(session: Any) -> list[list[int]]:
        del session
        _drop(Partitions(bridge, table), wanted, is_lenient=is_lenient, name=table.name)
        return []

    return command(bridge, run, text, StructType())


def table_at(place: Place) -> Table | None:
    """Open a table to change it; None if there is no such table."""
    try:
        table = place.catalog.opened(place.name)
    except (TableNotFoundError, DatabaseNotFoundError):
        return None
    return table if isinstance(table, Table) else None


def _spec(bridge: Bridge, part: Any, table: Table) -> dict[str, str | None]:
    """Read the values of one partition; names as the table spells them."""
    texts = dict(bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(part.spec()))
    spelled = {name.lower(): name for name in table.partition_keys}
    return {spelled.get(str(name).lower(), str(name)): value for name, value in texts.items()}


def _drop(
    partitions: Partitions,
    wanted: Sequence[Mapping[str, str | None]],
    *,
    is_lenient: bool,
    name: str,
) -> None:
    """Remove rows in one commit.

    Raises
    ------
    DataError
        If there is no such partition, and the statement does not say that there may be none.
    """
    found = [one for one in wanted if partitions.has(one)]
    if len(found) < len(wanted) and not is_lenient:
        missing = next(one for one in wanted if one not in found)
        raise DataError(f"{name}: there is no partition with {dict(missing)}; nothing was dropped")
    if found:
        partitions.drop_with(found)
