"""Compare functions without Spark with Spark's, over the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import SchemaError
from paimonlab.sql_engine import engine
from paimonlab.sql_engine.refusal import NotTranslatedError, StatementFailedError
from paimonlab.sql_engine.tables import Sources
from tests.spark.test_sql_without_spark import are_alike


@contextmanager
def over(
    spark: SparkSession, catalog: Catalog, rows: pa.Table, folder: Path
) -> Iterator[Comparison]:
    """Compare queries of a table ``t``."""
    pq.write_table(rows, folder / "t.parquet")
    spark.read.parquet(str(folder / "t.parquet")).createOrReplaceTempView("t")
    try:
        yield Comparison(spark, catalog, rows)
    finally:
        spark.catalog.dropTempView("t")


def in_utc(rows: pa.Table) -> pa.Table:
    """Return rows whose instants are written in UTC, wherever they were read."""
    return rows.cast(pa.schema([field.with_type(_of_utc(field.type)) for field in rows.schema]))


def _of_utc(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_list(kind):
        return pa.list_(_of_utc(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_of_utc(kind.key_type), _of_utc(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_of_utc(field.type)) for field in kind])
    return kind


class Comparison:
    """Asks both for the same.

    Parameters
    ----------
    spark, catalog
        Who answers, and who is asked without Spark.
    rows
        The table ``t``.
    """

    def __init__(self, spark: SparkSession, catalog: Catalog, rows: pa.Table) -> None:
        self._spark = spark
        self._catalog = catalog
        self._rows = rows

    def mine(self, query: str) -> tuple[pa.Table, Sequence[str]]:
        """Answer a query without Spark: its rows and its types."""
        sources = Sources(self._catalog, frames={"t": self._rows}.get)
        planned = engine.plan(query, sources)
        return engine.run(planned), planned.types

    def same(self, *queries: str) -> None:
        """Check that names, types and rows are Spark's; errors where Spark has errors."""
        wrong = [found for query in queries if (found := self._difference(query))]
        assert not wrong, "\n\n".join([f"{len(wrong)} of {len(queries)} differ", *wrong])

    def refused(self, *queries: str) -> None:
        """Check that queries are left to Spark."""
        for query in queries:
            with pytest.raises(NotTranslatedError):
                print(query, self.mine(query)[0].to_pylist())  # noqa: T201 - if it is not raised

    def _difference(self, query: str) -> str:
        """Return how the answers differ; empty if they do not."""
        try:
            mine, types = self.mine(query)
        except (StatementFailedError, SchemaError) as error:
            return self._without_error(query, str(error))
        except NotTranslatedError as error:
            return f"{query}\n{error}"
        try:
            frame = self._spark.sql(query)
            other = in_utc(frame.toArrow())
        except PySparkException as error:
            return f"{query}\n{mine.to_pylist()}\nSpark: {str(error)[:500]}"
        theirs = [field.dataType.simpleString() for field in frame.schema]
        heads = [*zip(mine.schema.names, types, strict=True)]
        others = [*zip(other.schema.names, theirs, strict=True)]
        if heads == others and are_alike(mine, other, is_ordered=False):
            return ""
        if heads != others:
            return f"{query}\n{heads}\nSpark: {others}"
        return f"{query}\n{mine.to_pylist()}\nSpark: {other.to_pylist()}"

    def _without_error(self, query: str, error: str) -> str:
        try:
            answered = self._spark.sql(query).toArrow()
        except PySparkException:
            return ""
        return f"{query}\n{error}\nSpark: {answered.to_pylist()}"
