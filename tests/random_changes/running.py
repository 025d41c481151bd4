"""A sequence of random statements in the hands of a session of Spark, and what it has to leave."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import DataError
from paimonlab.sql_engine import changes, engine
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources
from paimonlab.table.table import Table
from tests.interop.pair import Pair
from tests.random_changes.cells import Cells, cells
from tests.random_changes.kinds import COLUMNS, our_columns
from tests.random_changes.queries import query
from tests.random_changes.sequences import Sequenced, the_others
from tests.random_changes.statements import Made, without_alias, written


def ours(text: str) -> str:
    """Write a statement with the names of our tables."""
    return text.replace("{t}", "paimon.db.t").replace("{u}", "paimon.db.u")


def second_table(catalog: Catalog, spark: SparkSession, seed: int) -> None:
    """Create the table that all sequences of a seed read."""
    catalog.create_table("db.u", our_columns())
    spark.sql(ours(f"INSERT INTO {{u}} {written(COLUMNS, the_others(seed))}"))


class Running:
    """A sequence in the hands of a session."""

    def __init__(self, catalog: Catalog, spark: SparkSession, of: Sequenced) -> None:
        self.catalog, self.spark, self.of = catalog, spark, of
        self.rng = random.Random(f"{of.seed} engines")
        self.done: list[str] = []
        catalog.drop_table("db.t", missing_ok=True)
        catalog.create_table(
            "db.t",
            our_columns(of.kind.keys),
            primary_keys=of.kind.keys,
            partition_keys=of.kind.partitions,
            options=of.kind.options,
        )

    @property
    def table(self) -> Table:
        """The table as it is."""
        opened = self.catalog.table("db.t")
        assert isinstance(opened, Table)
        return opened

    def run(self) -> None:
        """Run all statements and compare after each."""
        ids: dict[int, int] = {}
        expected: list[Cells] = []
        for number, step in enumerate(self.of.steps):
            self.step(step)
            if self.of.kind.is_postponed:  # rows wait for buckets, which a compaction gives
                self.table.compact(full=True)
            left = self.rows()
            expected = self.of.rows_after(number)
            assert left == expected, self.difference(left, expected)
            before, ids = ids, self.ids()
            if step.keeps_ids:
                moved = {one for one in before.keys() & ids.keys() if before[one] != ids[one]}
                assert not moved, f"{self.said}: rows {moved} have other ids"
        for by_spark in (False, True, True):
            self.selects(by_spark=by_spark)
        found = self.spark.table("paimon.db.t").collect()
        assert cells(found) == expected, self.difference(cells(found), expected)
        report = self.table.fsck(deep=True)
        assert not report.findings, f"{self.said}: {report}"

    def step(self, step: Made) -> None:
        """Run a statement by one of the engines."""
        text = ours(step.text if self.rng.randrange(2) else without_alias(step.text))
        if not step.settings and self.rng.randrange(4) == 0:
            text = ours(without_alias(step.text))
            self.done.append(f"without Spark: {text}")
            try:
                if step.error:
                    with pytest.raises(DataError, match=step.error):
                        changes.run(text.replace("paimon.db", "db"), Sources(self.catalog))
                else:
                    changes.run(text.replace("paimon.db", "db"), Sources(self.catalog))
            except NotTranslatedError:
                self.done.pop()
            else:
                return
        self.done.append(text)
        for key, value in step.settings.items():
            self.spark.conf.set(key, value)
        try:
            if step.error:
                with pytest.raises(DataError, match=step.error):
                    self.spark.sql(text)
                return
            answer = self.spark.sql(text).collect()
        finally:
            for key in step.settings:
                self.spark.conf.unset(key)
        if step.counts is not None:
            assert [tuple(row) for row in answer] == [step.counts], self.said

    def rows(self) -> list[Cells]:
        """Read the table by our own reader."""
        return cells(
            zip(*(one.to_pylist() for one in self.table.scan().to_arrow().columns), strict=True)
        )

    def ids(self) -> dict[int, int]:
        """Return the row ids of rows whose ``id`` is there once."""
        if self.of.kind.options.get("row-tracking.enabled") != "true":
            return {}
        found = self.catalog.system_table("db.t$row_tracking").scan().to_arrow()
        numbers, ids = found["id"].to_pylist(), found["_ROW_ID"].to_pylist()
        assert len({*ids}) == len(ids), f"{self.said}: row ids are there twice"
        counts = Counter(numbers)
        return {one: id_ for one, id_ in zip(numbers, ids, strict=True) if counts[one] == 1}

    def selects(self, *, by_spark: bool) -> None:
        """Ask a random query."""
        made = query(self.of.columns[-1], self.of.steps[-1].rows, self.of.others, self.rng)
        text, expected = ours(made.text), made.rows
        self.done.append(text)
        if by_spark:
            left = cells(self.spark.sql(text).collect())
        else:
            try:
                plan = engine.plan(text.replace("paimon.db", "db"), Sources(self.catalog))
                found = engine.run(plan)
            except NotTranslatedError:
                return
            left = cells(zip(*(one.to_pylist() for one in found.columns), strict=True))
        assert left == expected, self.difference(left, expected)

    @property
    def said(self) -> str:
        """What was done so far."""
        return f"{self.of.name}, {self.of.seed!r}:\n" + ";\n".join(self.done)

    def difference(self, left: Sequence[Cells], expected: Sequence[Cells]) -> str:
        """Say which rows are wrong."""
        more, fewer = Counter(left), Counter(expected)
        return f"{self.said}\nwrong: {[*(more - fewer)]}\nmissing: {[*(fewer - more)]}"

    def java_reads_it(self, pair: Pair) -> bool:
        """Compare what Java reads; False: it is known to read something else."""
        # Java's ORC reader takes -0.0 and 0.0 of a batch for one value that is repeated.
        if "orc" in self.of.name and any("-0.0" in row for row in self.rows()):
            return False
        pair.assert_same("db.t")
        return True
