"""Rows that our reader reads, as tables and DataFrames of Spark's."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.reading.executor_rows import ExecutorRows, SnapshotRows
from paimonlab.spark.reading.pinned import PinnedRead
from paimonlab.spark.reading.plain_table import PlainTable, identities
from paimonlab.spark.reading.scan import SnapshotScan
from paimonlab.spark.reading.scan_builders import scan_builder

_V2_RELATION = "org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation"
_DATASET = "org.apache.spark.sql.classic.Dataset"


def arrow_frame(bridge: Bridge, snapshot: SnapshotScan, *, are_placed: bool = False) -> DataFrame:
    """Make a DataFrame of the splits of a snapshot that our reader reads.

    Parameters
    ----------
    bridge, snapshot
        The session; the snapshot.
    are_placed
        Whether columns follow that say where rows are: `OWN_SCHEMA`, and ids of tracked rows.
    """
    return frame_of(bridge, PinnedArrowTable(bridge, snapshot, are_placed=are_placed))


def frame_of(bridge: Bridge, table: Proxy) -> DataFrame:
    """Make a DataFrame of a table of the connector API."""
    none = bridge.none()
    plan = bridge.module(_V2_RELATION).create(table, none, none)
    return DataFrame(bridge.module(_DATASET).ofRows(bridge.session, plan), bridge.spark)


class ArrowTable(PlainTable):
    """Rows that our reader reads, as a table of Spark's."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.SupportsRead"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, rows: ExecutorRows) -> None:
        super().__init__(bridge)
        self._rows = rows

    def name(self) -> str:
        """Return the name that plans show."""
        return self._rows.name

    def schema(self) -> Any:
        """Return the columns."""
        return self._bridge.java_schema(self._rows.schema)

    def columns(self) -> Any:
        """Return the columns."""
        return self._bridge.columns(self._rows.schema)

    def partitioning(self) -> Any:
        """Return the partition keys."""
        return identities(self._bridge, self._rows.partition_keys)

    def capabilities(self) -> Any:
        """Return that it can be read."""
        return self._bridge.capabilities("BATCH_READ")

    def newScanBuilder(self, options: Any) -> Proxy:
        """Start a read."""
        del options
        return scan_builder(self._bridge, self._rows, self)


class PinnedArrowTable(ArrowTable, PinnedRead):
    """The splits of a snapshot that our reader reads."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.SupportsRead"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, snapshot: SnapshotScan, *, are_placed: bool = False) -> None:
        PinnedRead.__init__(self, bridge, snapshot)
        self._rows = SnapshotRows(snapshot, are_placed=are_placed)

    equals = PinnedRead.equals
