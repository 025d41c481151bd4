"""The partitions of a format table as Spark lists, adds and drops them: folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from paimonlab.errors import NotFoundError, UnsupportedError
from paimonlab.spark.writing.partitions import DROP, Partitions, Value

if TYPE_CHECKING:
    from paimonlab.table.format_tables.format_table import FormatTable


class FormatPartitions(Partitions):
    """Lists, adds and drops partitions; values are Spark's ``InternalRow``."""

    @property
    def _files(self) -> FormatTable:
        return cast("FormatTable", self._table)

    def all(self) -> pa.Table:
        """Return the partitions that have a folder, each once, in order."""
        found = self._files.partitions().drop_columns(["path"])
        names = list(found.column_names)
        return found.group_by(names).aggregate([]).sort_by([(one, "ascending") for one in names])

    def drop_with(self, wanted: Sequence[Mapping[str, Value]], statement: str = DROP) -> None:
        """Delete the folders of all partitions with values of some of their columns."""
        del statement
        self._files.drop_partitions(wanted)

    def has(self, wanted: Mapping[str, Value]) -> bool:
        """Say whether there is a partition with values of some of its columns."""
        return self._matching(dict(wanted)).num_rows > 0

    def add(self, values: Any, properties: Mapping[str, str]) -> None:
        """Make the folder of a partition.

        Raises
        ------
        UnsupportedError
            If it is to be elsewhere.
        """
        if "location" in properties:
            raise UnsupportedError(
                f"ADD PARTITION … LOCATION '{properties['location']}'",
                "the folder of a partition is named by its values",
            )
        self._files.add_partition(self._typed(values, self._table.partition_keys))

    def truncate(self, rows: Sequence[Any]) -> None:
        """Delete the files of partitions; their folders stay.

        Raises
        ------
        NotFoundError
            If there is no such partition.
        """
        keys = self._table.partition_keys
        for row in rows:
            if not self.exists(row):
                named = ", ".join(f"{key} = {one!r}" for key, one in self._typed(row, keys).items())
                raise NotFoundError(f"{self._table.name} has no partition {named}")
        if not rows:  # values of some columns that no partition has
            return
        self._files.truncate_partitions([self._typed(row, keys) for row in rows])
