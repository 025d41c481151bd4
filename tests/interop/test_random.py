"""Random tables, written, changed and compacted by both at random, against a model.

The model is a list of rows, or for a table with a primary key a dict that remembers deletes.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.spec.predicates.predicate import bind, evaluate
from paimonlab.spec.types.data_types import AtomicType
from paimonlab.spec.types.text import format_type
from tests.interop.pair import KIND, SIDES, Pair, Side, random_rows, with_kinds
from tests.java_values import java_rows, unordered
from tests.repetitions import times

pytestmark = pytest.mark.interop

TABLES = times(10)
STEPS = 7
KEY_TYPES = ["INT", "BIGINT", "STRING", "DATE", "DECIMAL(22, 3)", "TIMESTAMP(6)", "BYTES"]
VALUE_TYPES = [
    "INT",
    "STRING",
    "DOUBLE",
    "DECIMAL(9, 2)",
    "TIMESTAMP(9)",
    "ARRAY<STRING>",
    "BOOLEAN",
]
PARTITIONS = ["x", "y=1", "ü z"]

Row: TypeAlias = dict[str, Any]


@dataclass
class Model:
    """What the table holds."""

    key: tuple[str, ...]
    """Columns of the primary key; () for an append table."""
    sequence: str | None
    rows: list[Row] = field(default_factory=list)
    """Oldest first; of a table with a primary key one row a key."""
    deleted: list[Row] = field(default_factory=list)
    """Rows with newer sequences that are gone, until a compaction forgets them."""

    def write(self, kind: str, row: Row) -> None:
        """Apply one row."""
        if not self.key:
            self.rows.append(row)
            return
        older = [known for known in (*self.rows, *self.deleted) if self._same(known, row)]
        if older and self._order(older[0]) > self._order(row):
            return
        self.rows = [known for known in self.rows if not self._same(known, row)]
        self.deleted = [known for known in self.deleted if not self._same(known, row)]
        (self.rows if kind in ("+I", "+U") else self.deleted).append(row)

    def drop(self, partition: str) -> None:
        """Forget a partition."""
        self.rows = [row for row in self.rows if row["p"] != partition]
        self.deleted = [row for row in self.deleted if row["p"] != partition]

    def change(self, edit: Any) -> None:
        """Change every row."""
        for row in (*self.rows, *self.deleted):
            edit(row)

    def _same(self, left: Row, right: Row) -> bool:
        return all(left[name] == right[name] for name in self.key)

    def _order(self, row: Row) -> tuple[bool, int]:
        value = row[self.sequence] if self.sequence else None
        return (value is not None, value or 0)


@dataclass
class Walk:
    """A table under random hands."""

    pair: Pair
    rng: np.random.Generator
    name: str = "db.t"
    steps: list[str] = field(default_factory=list)
    history: dict[int, list[str]] = field(default_factory=dict)
    columns_added: int = 0

    def __post_init__(self) -> None:
        rng = self.rng
        is_keyed, is_partitioned = rng.random() < 0.6, rng.random() < 0.5
        keys = [f"k{i}" for i in range(int(rng.integers(1, 3)))]
        columns = {name: f"{rng.choice(KEY_TYPES)} NOT NULL" for name in keys}
        columns |= {f"v{i}": str(rng.choice(VALUE_TYPES)) for i in range(int(rng.integers(1, 4)))}
        partition = ["p"] if is_partitioned else []
        columns |= dict.fromkeys(partition, "STRING NOT NULL")
        options: dict[str, str] = {}
        sequence = None
        if is_keyed:
            options = {"bucket": str(rng.integers(1, 4)), "write-only": "true"}
            if rng.random() < 0.4:
                sequence, columns["s"], options["sequence.field"] = "s", "INT", "s"
        elif rng.random() < 0.5:
            options = {"bucket": str(rng.integers(1, 4)), "bucket-key": "k0"}
        pk = [*keys, *partition] if is_keyed else []
        self.model = Model(tuple(pk), sequence)
        self.pool = random_rows({name: columns[name] for name in keys}, 8, rng)
        creator = self.side()
        self.pair.create(creator, self.name, columns, pk=pk, partition=partition, options=options)
        self.steps.append(f"{creator} creates {columns} {pk} {partition} {options}")

    def side(self) -> Side:
        """Choose who acts."""
        return SIDES[int(self.rng.integers(2))]

    def rows(self, count: int) -> pa.Table:
        """Make rows for the table as it is, with keys of the pool."""
        schema = self.pair.open(self.name).schema
        columns = {f.name: format_type(f.type) for f in schema.fields}
        rows = random_rows(columns, count, self.rng)
        chosen = self.pool.take(self.rng.integers(0, len(self.pool), count))
        places = {name: chosen.column(name) for name in chosen.column_names}
        if "p" in columns:
            places["p"] = pa.array(self.rng.choice(PARTITIONS, count))
        if "s" in columns:
            numbers = pa.array(self.rng.integers(0, 9, count), pa.int32())
            places["s"] = pa.array(numbers, mask=self.rng.random(count) < 0.1)
        for name, column in places.items():
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, rows.field(place), column)
        return rows

    def write(self) -> None:
        """Append or upsert."""
        count = int(self.rng.choice([1, 5, 30]))
        rows, side = self.rows(count), self.side()
        if self.model.key:
            kinds = self.rng.choice(["+I", "+U", "-U", "-D"], count, p=[0.5, 0.2, 0.1, 0.2])
            rows = rows.append_column(KIND, pa.array(kinds))
        self.pair.write(side, self.name, rows)
        self.apply(rows)
        self.steps.append(f"{side} writes {count} rows")

    def apply(self, rows: pa.Table) -> None:
        """Do to the model what was done to the table."""
        fields = self.pair.open(self.name).schema.fields
        for kind, values in with_kinds(rows, fields):
            names = [known.name for known in fields]
            self.model.write(kind, dict(zip(names, values, strict=True)))

    def drop_partition(self) -> None:
        """Drop a partition, if there are any."""
        if not self.is_partitioned():
            return
        side, partition = self.side(), str(self.rng.choice(PARTITIONS))
        if side == "us":
            self.pair.open(self.name).drop_partitions([{"p": partition}])
        else:
            self.pair.java("drop_partition", table=self.name, partition={"p": partition})
        self.model.drop(partition)
        self.steps.append(f"{side} drops {partition}")

    def overwrite_partition(self) -> None:
        """Put new rows in the place of a partition."""
        if not self.is_partitioned():
            return
        side, partition = self.side(), str(self.rng.choice(PARTITIONS))
        rows = self.rows(6)
        place = rows.schema.get_field_index("p")
        rows = rows.set_column(place, rows.field(place), pa.array([partition] * 6))
        if side == "us":
            self.pair.open(self.name).overwrite(rows, partition={"p": partition})
        else:
            values = java_rows(rows, self.pair.open(self.name).schema.fields)
            self.pair.java.write(self.name, values, overwrite={"p": partition})
        self.model.drop(partition)
        self.apply(rows)
        self.steps.append(f"{side} overwrites {partition}")

    def is_partitioned(self) -> bool:
        return bool(self.pair.open(self.name).partition_keys)

    def compact(self) -> None:
        """Let Java compact, after which deletes are forgotten."""
        self.pair.java("compact", table=self.name)
        self.model.deleted = []
        self.steps.append("java compacts")

    def add_column(self) -> None:
        """Add a column at the end or in front."""
        side, name = self.side(), f"added{self.columns_added}"
        self.columns_added += 1
        type_, first = str(self.rng.choice(VALUE_TYPES[:4])), bool(self.rng.integers(2))
        javas = ["add", name, type_, *([["first"]] if first else [])]
        self.pair.alter(side, self.name, pl.AddColumn(name, type_, first=first), javas)
        self.model.change(lambda row: row.update({name: None}))
        self.steps.append(f"{side} adds {name} {type_}")

    def rename_column(self) -> None:
        """Rename a value column."""
        old = self.some_value_column()
        if old is None:
            return
        side, new = self.side(), f"renamed{self.columns_added}"
        self.columns_added += 1
        self.pair.alter(side, self.name, pl.RenameColumn(old, new), ["rename", old, new])
        self.model.change(lambda row: row.update({new: row.pop(old)}))
        self.steps.append(f"{side} renames {old} to {new}")

    def drop_column(self) -> None:
        """Drop a value column; one of its name may come again."""
        name = self.some_value_column()
        if name is None:
            return
        side = self.side()
        self.pair.alter(side, self.name, pl.DropColumn(name), ["drop", name])
        self.model.change(lambda row: row.pop(name))
        self.steps.append(f"{side} drops column {name}")

    def some_value_column(self) -> str | None:
        names = self.pair.open(self.name).schema.field_names
        free = [name for name in names if not name.startswith(("k", "p", "s"))]
        return str(self.rng.choice(free)) if free else None

    def check(self) -> None:
        """Both read what the model holds, now and at an earlier snapshot."""
        table = self.pair.open(self.name)
        wanted = unordered([[row[f] for f in table.schema.field_names] for row in self.model.rows])
        ours = unordered(self.pair.our_rows(self.name))
        assert ours == wanted, self.steps
        assert unordered(self.pair.java_rows(self.name)) == wanted, self.steps
        assert table.scan().count() == len(wanted), self.steps
        self.check_filter(table)
        if self.history:
            then = int(self.rng.choice(list(self.history)))
            found = unordered(self.pair.our_rows(self.name, snapshot=then))
            assert found == self.history[then], (then, self.steps)
        if table.snapshot is not None and table.snapshot.schema_id == table.schema.id:
            self.history[table.snapshot.id] = wanted

    def check_filter(self, table: pl.Table) -> None:
        """Whatever is pruned, a filter finds the rows that it holds for."""
        rows = table.scan().to_arrow()
        plain = [f for f in table.schema.fields if isinstance(f.type, AtomicType)]
        chosen = plain[int(self.rng.integers(len(plain)))]
        if rows.num_rows == 0:
            return
        value = rows.column(chosen.name)[int(self.rng.integers(rows.num_rows))]
        if not value.is_valid:
            where = pl.col(chosen.name).is_null()
        else:
            operators = [operator.eq, operator.ne, operator.lt, operator.ge]
            where = operators[int(self.rng.integers(4))](pl.col(chosen.name), value.as_py())
        bound = bind(where, table.schema.fields, self.name)
        wanted = rows.filter(evaluate(bound, rows))
        found = table.scan(where=where).to_arrow()
        fields = table.schema.fields
        assert unordered(java_rows(found, fields)) == unordered(java_rows(wanted, fields)), (
            str(where),
            self.steps,
        )


@pytest.mark.in_turn(TABLES)
def test_a_random_table_is_what_the_model_says(pair: Pair, seed: int, number: int) -> None:
    walk = Walk(pair, np.random.default_rng([seed, number]))
    acts = [
        *[walk.write] * 6,
        walk.drop_partition,
        walk.overwrite_partition,
        walk.compact,
        walk.add_column,
        walk.rename_column,
        walk.drop_column,
    ]

    walk.check()
    for _ in range(STEPS):
        acts[int(walk.rng.integers(len(acts)))]()
        walk.check()
