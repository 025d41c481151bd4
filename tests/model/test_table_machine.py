"""A table under random hands, step by step beside a dict that says what it ought to hold."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
)

import paimonlab as pl
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.text import parse_type
from tests.java_values import java_rows, java_values, unordered
from tests.model.random_filters import random_condition
from tests.model.table_model import ADDS, Branch, Column, Row, Shape, TableModel
from tests.spec.random_columns import random_column

EXAMPLES = int(os.environ.get("PAIMONLAB_MODEL_EXAMPLES", "32"))
"""How many walks, on four kinds of tables in all."""
STEPS = 50
MANY = 8
"""Rows of the largest write."""
VALUE_TYPES = [
    "INT",
    "BIGINT",
    "STRING",
    "DOUBLE",
    "DECIMAL(20, 3)",
    "TIMESTAMP(6)",
    "BYTES",
    "DATE",
    "BOOLEAN",
    "ARRAY<INT>",
    "ROW<a INT, b STRING>",
    "MAP<STRING, INT>",
]
KEYS: dict[str, list[Any]] = {
    "INT NOT NULL": [1, 2, 3, -7, 1000],
    "BIGINT NOT NULL": [1, 2, 3, 2**40, -(2**63)],
    "STRING NOT NULL": ["a", "b", "", "ab", "é"],
}
PARTITIONS = ["x", "y=1", "ü z"]
WIDER = {"INT": "BIGINT", "BIGINT": None}

seeds = st.integers(0, 2**32 - 1)
counts = st.integers(1, MANY)


class TableMachine(RuleBasedStateMachine):
    """Rules are what a user can do to a table; after each it is what the model says."""

    is_keyed = False
    is_partitioned = False

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="paimonlab-model-")
        self.catalog = pl.connect(self.folder)
        self.catalog.create_database("db")
        self.branch_name = "main"

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize(
        has_sequence=st.booleans(),
        buckets=st.sampled_from([-1, 1, 3]),
        has_vectors=st.booleans(),
        key_types=st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=2),
        value_types=st.lists(st.sampled_from(VALUE_TYPES), min_size=1, max_size=4),
    )
    def create(
        self,
        *,
        has_sequence: bool,
        buckets: int,
        has_vectors: bool,
        key_types: list[str],
        value_types: list[str],
    ) -> None:
        is_keyed, is_partitioned = self.is_keyed, self.is_partitioned
        columns = {f"k{i}": text for i, text in enumerate(key_types)}
        columns |= {f"v{i}": text for i, text in enumerate(value_types)}
        columns |= {"p": "STRING NOT NULL"} if is_partitioned else {}
        has_sequence = has_sequence and is_keyed
        columns |= {"s": "INT"} if has_sequence else {}
        numbered = [Column(i, name, text) for i, (name, text) in enumerate(columns.items())]
        number = {column.name: column.number for column in numbered}
        keys = [name for name in columns if name.startswith("k")]
        partition = ["p"] if is_partitioned else []
        options = {
            "bucket": str(buckets),
            "write-only": "true",
            "num-sorted-run.compaction-trigger": "2",
        }
        if not is_keyed:
            options |= {"bucket-key": "k0"} if buckets > 0 else {}
            options |= {"deletion-vectors.enabled": "true"} if has_vectors else {}
        if has_sequence:
            options["sequence.field"] = "s"
        self.table = self.catalog.create_table(
            "db.t",
            columns,
            primary_keys=[*keys, *partition] if is_keyed else [],
            partition_keys=partition,
            options=options,
        )
        self.model = TableModel(
            Shape(
                key=tuple(number[name] for name in (*keys, *partition)) if is_keyed else (),
                partition=tuple(number[name] for name in partition),
                sequence=number.get("s"),
            ),
            numbered,
        )

    # --- what a user does --------------------------------------------------------------

    @rule(seed=seeds, count=counts)
    def write(self, seed: int, count: int) -> None:
        rng = np.random.default_rng(seed)
        data, rows = self._rows(count, rng)
        kinds = ["+I"] * count
        if self.model.shape.key:
            kinds = rng.choice(["+I", "+U", "-U", "-D"], count, p=[0.6, 0.15, 0.1, 0.15]).tolist()
            data = data.append_column("how", pa.array(kinds))
        self._committed(self.table.write(data, row_kinds="how" if self.model.shape.key else None))
        for kind, row in zip(kinds, rows, strict=True):
            self.model.write(self._branch, kind, row)
        self._remember()

    @rule(seed=seeds)
    def delete(self, seed: int) -> None:
        condition = self._condition(np.random.default_rng(seed))
        if condition is None:
            return
        snapshot = self.table.delete(condition.sql)
        hits = self.model.remove(self._branch, condition.holds)
        assert (snapshot is None) == (hits == 0)
        if snapshot is not None:
            self._committed(snapshot)
            self._remember()

    @rule(seed=seeds, value=st.integers(-3, 3))
    def update(self, seed: int, value: int) -> None:
        column = self._free_column(seed, "INT")
        condition = self._condition(np.random.default_rng(seed))
        if column is None or condition is None:
            return
        snapshot = self.table.update({column.name: str(value)}, where=condition.sql)
        hits = [row for row in self._branch.content.live.values() if condition.holds(row)]
        assert (snapshot is None) == (not hits)
        if snapshot is not None:
            self._committed(snapshot)
            for row in hits:
                row[column.number] = value
            self._remember()

    @rule(seed=seeds, count=counts)
    def overwrite_everything(self, seed: int, count: int) -> None:
        data, rows = self._rows(count, np.random.default_rng(seed))
        self._committed(self.table.overwrite(data, dynamic=False))
        self.model.forget(self._branch, lambda row: True)
        self._write_rows(rows)

    @precondition(lambda self: self.model.shape.partition)
    @rule(seed=seeds, count=counts)
    def overwrite_partitions_of_the_rows(self, seed: int, count: int) -> None:
        data, rows = self._rows(count, np.random.default_rng(seed))
        self._committed(self.table.overwrite(data, dynamic=True))
        hit = {self.model.partition(row) for row in rows}
        self.model.forget(self._branch, lambda row: self.model.partition(row) in hit)
        self._write_rows(rows)

    @precondition(lambda self: self.model.shape.partition)
    @rule(partition=st.sampled_from(PARTITIONS))
    def drop_partition(self, partition: str) -> None:
        self._committed(self.table.drop_partitions([{"p": partition}]))
        number = self.model.shape.partition[0]
        self.model.forget(self._branch, lambda row: row[number] == partition)
        self._remember()

    @rule()
    def truncate(self) -> None:
        self._committed(self.table.truncate())
        self.model.forget(self._branch, lambda row: True)
        self._remember()

    @rule(is_full=st.booleans())
    def compact(self, *, is_full: bool) -> None:
        # Only where all are gone is it known which deletes do not hide older rows any more.
        is_full = is_full or self.model.shape.sequence is not None
        snapshot = self.table.compact(full=is_full).snapshot
        if is_full:
            self._branch.content.gone.clear()
        if snapshot is not None:
            self._committed(snapshot)
            self._remember()

    @rule(type_=st.sampled_from(VALUE_TYPES), first=st.booleans())
    def add_column(self, type_: str, *, first: bool) -> None:
        columns = self._branch.columns
        name = next(f"a{i}" for i in range(99) if f"a{i}" not in self._names)
        self._alter(pl.AddColumn(name, type_, first=first))
        columns.insert(0 if first else len(columns), self.model.new_column(name, type_))

    @rule(seed=seeds)
    def drop_column(self, seed: int) -> None:
        column = self._free_column(seed)
        if column is not None:
            self._alter(pl.DropColumn(column.name))
            self._branch.columns.remove(column)

    @rule(seed=seeds)
    def rename_column(self, seed: int) -> None:
        column = self._free_column(seed)
        if column is not None:
            new = next(f"a{i}" for i in range(99) if f"a{i}" not in self._names)
            self._alter(pl.RenameColumn(column.name, new))
            self._replace(column, Column(column.number, new, column.type))

    @rule(seed=seeds)
    def widen_column(self, seed: int) -> None:
        column = self._free_column(seed, "INT")
        if column is not None:
            self._alter(pl.UpdateColumnType(column.name, "BIGINT"))
            self._replace(column, Column(column.number, column.name, "BIGINT"))

    @precondition(lambda self: self._branch.snapshots)
    @rule(name=st.sampled_from(["t1", "t2", "t3"]), seed=seeds)
    def tag(self, name: str, seed: int) -> None:
        if name in self._branch.tags:
            self.table.tags.delete(name)
            del self._branch.tags[name]
            return
        chosen = int(np.random.default_rng(seed).choice(list(self._branch.snapshots)))
        self.table.tags.create(name, snapshot=chosen)
        self._branch.tags[name] = chosen

    @precondition(lambda self: self._branch.snapshots)
    @rule(seed=seeds)
    def roll_back(self, seed: int) -> None:
        then = int(np.random.default_rng(seed).choice(list(self._branch.snapshots)[-4:]))
        self.table.maintenance.rollback_to(snapshot=then)
        self._branch.roll_back(then)
        self._see_it_is_right()

    @precondition(lambda self: self._branch.snapshots)
    @rule(kept=st.integers(1, 3))
    def expire(self, kept: int) -> None:
        done = self.table.maintenance.expire_snapshots(kept, max_deletes=100)
        assert done.first_kept is not None
        self._branch.expire(done.first_kept)
        assert self.table.snapshots.ids() == sorted(self._branch.snapshots)
        assert self.table.fsck().findings == ()

    @rule()
    def clean_orphans(self) -> None:
        for path in Path(self.folder).rglob("*"):
            os.utime(path, (0, 0))
        self.table.maintenance.remove_orphan_files(dry_run=False)

    @precondition(lambda self: self.branch_name == "main" and self._branch.tags)
    @rule(seed=seeds)
    def branch_off(self, seed: int) -> None:
        if "b" in self.model.branches:
            self.table.branches.delete("b")
        tag = str(np.random.default_rng(seed).choice(sorted(self._branch.tags)))
        self.table.branches.create("b", tag=tag)
        self.model.branches["b"] = self._branch.branched(tag)

    @precondition(lambda self: "b" in self.model.branches)
    @rule()
    def go_to_the_other_branch(self) -> None:
        self.branch_name = "b" if self.branch_name == "main" else "main"
        self._see_it_is_right()

    @precondition(lambda self: "b" in self.model.branches and self.branch_name == "main")
    @rule()
    def fast_forward(self) -> None:
        self.table.branches.fast_forward("b")
        self._branch.fast_forwarded(self.model.branches["b"], self.table.snapshots.ids()[0])
        self._see_it_is_right()

    # --- what a user sees --------------------------------------------------------------

    @rule(seed=seeds)
    def read_some(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        columns = self._branch.columns
        chosen = [columns[i] for i in rng.permutation(len(columns))[: rng.integers(1, 4)]]
        condition = self._condition(rng)
        rows = [
            [row.get(column.number) for column in chosen]
            for row in self._branch.content.live.values()
            if condition is None or condition.holds(row)
        ]
        where = None if condition is None else condition.sql
        scan = self.table.scan([column.name for column in chosen], where)
        assert self._seen(scan) == unordered(rows), where
        assert scan.count() == len(rows)

    @precondition(lambda self: self._branch.snapshots)
    @rule(seed=seeds)
    def travel(self, seed: int) -> None:
        branch, rng = self._branch, np.random.default_rng(seed)
        then = int(rng.choice(list(branch.snapshots)))
        assert self._seen(self.table.scan(snapshot=then)) == unordered(branch.at(then))
        for tag, tagged in branch.tags.items():
            assert self._seen(self.table.scan(tag=tag)) == unordered(branch.at(tagged))

    @rule()
    def check(self) -> None:
        assert self.table.fsck(deep=True).findings == ()

    # --- how -----------------------------------------------------------------------------

    @property
    def _branch(self) -> Branch:
        return self.model.branches[self.branch_name]

    @property
    def _name(self) -> str:
        return "db.t" if self.branch_name == "main" else f"db.t$branch_{self.branch_name}"

    @property
    def _names(self) -> set[str]:
        return {column.name for column in self._branch.columns}

    def _rows(self, count: int, rng: np.random.Generator) -> tuple[pa.Table, list[Row]]:
        """Make rows, as they are written and as the model has them."""
        columns = self._branch.columns
        arrays = [self._array(column, count, rng) for column in columns]
        data = pa.table(arrays, names=[column.name for column in columns])
        values = [
            java_values(array, parse_type(column.type))
            for array, column in zip(arrays, columns, strict=True)
        ]
        rows = [
            {column.number: value for column, value in zip(columns, row, strict=True)}
            for row in zip(*values, strict=True)
        ]
        return data, rows

    def _array(self, column: Column, count: int, rng: np.random.Generator) -> pa.Array:
        type_ = to_arrow(parse_type(column.type))
        if column.name.startswith("k"):
            pool = KEYS[column.type]
            return pa.array([pool[i] for i in rng.integers(0, len(pool), count)], type_)
        if column.name == "p":
            return pa.array(rng.choice(PARTITIONS, count).tolist(), type_)
        if column.name == "s":
            numbers = rng.integers(0, 5, count)
            return pa.array(numbers, type_, mask=rng.random(count) < 0.1)
        return random_column(parse_type(column.type), count, rng)

    def _condition(self, rng: np.random.Generator) -> Any:
        rows = list(self._branch.content.live.values())
        return random_condition(self._branch.columns, rows, rng) if rng.random() < 0.8 else None

    def _free_column(self, seed: int, type_: str | None = None) -> Column | None:
        """Choose a column that nothing depends on."""
        free = [
            column
            for column in self._branch.columns
            if column.name[0] in "va" and type_ in (None, column.type)
        ]
        return free[seed % len(free)] if free else None

    def _alter(self, change: Any) -> None:
        self.table = self.catalog.alter_table(self._name, change)

    def _replace(self, old: Column, new: Column) -> None:
        self._branch.columns[self._branch.columns.index(old)] = new

    def _write_rows(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self.model.write(self._branch, ADDS[0], row)
        self._remember()

    def _committed(self, snapshot: pl.Snapshot | None) -> None:
        assert snapshot is not None
        assert snapshot.id == (self._branch.latest or 0) + 1

    def _remember(self) -> None:
        self._branch.committed((self._branch.latest or 0) + 1)
        self._see_it_is_right()

    def _see_it_is_right(self) -> None:
        found = self.catalog.table(self._name)
        assert isinstance(found, pl.Table)
        self.table = found
        assert self._seen(found.scan()) == unordered(self._branch.now())

    @staticmethod
    def _seen(scan: pl.Scan) -> list[str]:
        fields = [scan.schema.field(name) for name in scan.columns]
        return unordered(java_rows(scan.to_arrow(), fields))


class KeyedMachine(TableMachine):
    """A table with a primary key."""

    is_keyed = True


class PartitionedMachine(TableMachine):
    """An append table with partitions."""

    is_partitioned = True


class KeyedPartitionedMachine(TableMachine):
    """A table with a primary key and partitions."""

    is_keyed = is_partitioned = True


_SETTINGS = settings(max_examples=EXAMPLES // 4, stateful_step_count=STEPS)

TestAppend = TableMachine.TestCase
TestAppend.settings = _SETTINGS
TestKeyed = KeyedMachine.TestCase
TestKeyed.settings = _SETTINGS
TestPartitioned = PartitionedMachine.TestCase
TestPartitioned.settings = _SETTINGS
TestKeyedPartitioned = KeyedPartitionedMachine.TestCase
TestKeyedPartitioned.settings = _SETTINGS
