"""``spark.read.format("paimon").load(path)``: a table by its folder, without a catalog.

Spark runs this in Python processes of its own, away from the driver: it plans and reads with the
library alone, and Spark pushes neither columns nor filters down. Reading by name is Spark's own
Parquet scan (`paimonlab.spark.reading.relation`). The name ``paimon`` is also what
``df.write.format("paimon").saveAsTable(…)`` looks for; rows go through the catalog then.

Source: pyspark 4.2.0 and 4.3.0 ``pyspark.sql.datasource``.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from paimonlab.catalog import connect
from paimonlab.catalog.names import DATABASE_SUFFIX
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.read.changed_rows import read_inserts
from paimonlab.read.splits import read_split
from paimonlab.scan.change_splits import ChangeSplit
from paimonlab.spark.reading.executor_read import as_expected
from paimonlab.spark.reading.time_travel import READ_OPTIONS
from paimonlab.spark.values.types import spark_schema
from paimonlab.spec.options.table_options import check_known
from paimonlab.storage.places import place_of
from paimonlab.storage.schemes import store_kind

if TYPE_CHECKING:
    import pyarrow as pa

    from paimonlab.table.reading.scan import Scan

NAME = "paimon"
"""What ``format(…)`` and ``USING`` call it."""
_BY_NAME = "use spark.table, df.writeTo or SQL with the name of the table"


class PaimonSource(DataSource):
    """A table by its folder, for reading."""

    @classmethod
    def name(cls) -> str:
        """Return what it is called."""
        return NAME

    def schema(self) -> StructType:
        """Return the columns of the snapshot that is read."""
        return spark_schema(_scan(self.options).schema.fields, plain=True)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads the columns that Spark, or a schema of the user, names."""
        return _Reader(_scan(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> NoReturn:  # noqa: FBT001 - Spark's
        """Refuse: a path has no catalog whose commits could be waited for."""
        del schema, overwrite
        raise UnsupportedError("writing to a path with format('paimon')", _BY_NAME)

    def streamReader(self, schema: StructType) -> NoReturn:
        """Refuse."""
        del schema
        raise UnsupportedError("readStream.format('paimon')", "use readStream.table")

    def streamWriter(self, schema: StructType, overwrite: bool) -> NoReturn:  # noqa: FBT001
        """Refuse."""
        del schema, overwrite
        raise UnsupportedError("writeStream.format('paimon')", "use writeStream.toTable")


class _Reader(DataSourceReader):
    """Reads the splits of one snapshot."""

    def __init__(self, scan: Scan, schema: StructType) -> None:
        every = spark_schema(scan.schema.fields, plain=True)
        by_name = {field.name: field for field in every}
        for field in schema:
            if field.name not in by_name or by_name[field.name].dataType != field.dataType:
                raise SchemaError(
                    f"{scan.definition.name}: there is no column {field.simpleString()}; "
                    f"the columns are {every.simpleString()}"
                )
        columns = [field.name for field in schema]
        narrowed = scan.narrowed(columns, None)
        splits = scan.plan().splits if narrowed.changes is None else narrowed.changes.splits
        self._splits = [pickle.dumps(split) for split in splits]
        self._plan = narrowed.read_plan()
        self._file_io = scan.store.file_io
        self._schema = to_arrow_schema(
            StructType([by_name[name] for name in columns]), timezone="UTC"
        )

    def partitions(self) -> Sequence[InputPartition]:
        """Return one task for each split."""
        return [InputPartition(split) for split in self._splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one split."""
        pickled = getattr(partition, "value", None)
        if pickled is None:  # no splits make one empty task
            return
        split = pickle.loads(pickled)  # noqa: S301 - made by `partitions`
        plan, file_io = self._plan, self._file_io
        batches: Iterable[pa.RecordBatch] = (
            read_inserts([split], plan, file_io)
            if isinstance(split, ChangeSplit)
            else read_split(split, plan, file_io)
        )
        for rows in batches:
            yield as_expected(rows, self._schema, self._plan.table_name, cuts_timestamps=False)


def _scan(options: Mapping[str, Any]) -> Scan:
    """Open the table that a path means, at the snapshot that options choose.

    Raises
    ------
    UnsupportedError
        If there is no path, it is not that of a table in a database, or there are other options.
    """
    given = {str(key).lower(): str(value) for key, value in options.items()}
    path = given.pop("path", None)
    if path is None:
        raise UnsupportedError("format('paimon') without a path", _BY_NAME)
    check_known([*given])
    for key in given.keys() - set(READ_OPTIONS):
        raise UnsupportedError(
            f"{key} = {given[key]!r} for format('paimon')", f"known are {', '.join(READ_OPTIONS)}"
        )
    remote = place_of(path) if store_kind(path) is not None else None
    place = PurePosixPath(path.removeprefix("file:") if remote is None else remote.key)
    if place.parent.suffix != DATABASE_SUFFIX:
        raise UnsupportedError(
            f"format('paimon').load({path!r})",
            f"a table is in the folder of its database: <warehouse>/<database>{DATABASE_SUFFIX}; "
            "by its name it is read with spark.table(…), spark.read.table(…) or "
            "spark.readStream.table(…)",
        )
    warehouse = str(place.parent.parent)
    catalog = connect(warehouse if remote is None else remote.of(warehouse.removeprefix(".")))
    table = catalog.table(f"{place.parent.stem}.{place.name}")
    return table.scan(options=given)
