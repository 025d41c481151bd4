"""Random tables in the hands of both, each step read by both; a plain twin is Java's alone.

Every step is done by us or by Java, whoever is drawn, and by Java to the twin, which has the
same meaning and the plainest storage. Both must read the same rows from the table, now and at
an earlier snapshot, and they must be the twin's.
"""

from __future__ import annotations

import operator
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.json import type_to_json
from paimonlab.spec.types.text import parse_type
from tests.interop.java_build import is_since_1_4
from tests.interop.pair import KIND, SIDES, Pair, Side, difference, with_kinds
from tests.interop.random_tables import random_data, random_definition
from tests.java_values import java_rows, normal_rows, unordered
from tests.spec.random_columns import random_value

pytestmark = pytest.mark.interop

SEEDS = int(os.environ.get("PAIMONLAB_DIFFERENTIAL_SEEDS", "16"))
"""How many random tables."""
STEPS = 6
SHORT = 60
"""Characters of a value that may name a folder."""
TABLE, TWIN = "db.t", "db.twin"
PLAIN_APPEND = {"bucket": "-1", "deletion-vectors.enabled": "true"}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">=": operator.ge,
}
COMPARED = ("TINYINT", "SMALLINT", "INT", "BIGINT", "STRING", "DATE", "DECIMAL", "BOOLEAN")
"""Types of columns that conditions look at."""
FEATURES = frozenset(
    {
        "across",
        "aggregation",
        "avro",
        "bucket-function",
        "changelog-producer",
        "data-file.path-directory",
        "data-file.thin-mode",
        "deletion-vectors",
        "dynamic",
        "file-index.bitmap.columns",
        "file-index.bloom-filter.columns",
        "file.compression",
        "file.format.per.level",
        "file.suffix.include.compression",
        "first-row",
        "ignore-delete",
        "manifest.merge-min-count",
        "manifest.target-file-size",
        "metadata.stats-dense-store",
        "metadata.stats-mode",
        "orc",
        "partial-update",
        "partition.legacy-name",
        "row-tracking",
        "target-file-size",
    }
)
"""What random definitions use."""
LATER_FEATURES = frozenset({"across", "changelog-producer", "row-tracking"})
"""Those that came when seeds had been kept already: with them a seed makes another table."""
KEPT = Path(__file__).with_name("differential_seeds.txt")
"""Seeds that once found something."""


@dataclass
class Walk:
    """A table, its twin, and what was done to them."""

    pair: Pair
    rng: np.random.Generator
    steps: list[str] = field(default_factory=list)
    then: dict[int, list[str]] = field(default_factory=dict)
    """What some snapshots held."""
    added: int = 0
    features: frozenset[str] = FEATURES
    changes_since: int = 0
    """Changes up to this snapshot were compared."""
    replayed: Counter[str] | None = field(default_factory=Counter)
    """The rows that the changes lead to; None: it is unknown."""

    def __post_init__(self) -> None:
        self.definition = random_definition(self.rng, self.features).for_release(
            self.pair.java.release
        )
        made = self.definition
        creator = self.side()
        self.pair.create(
            creator,
            TABLE,
            made.columns,
            pk=made.pk,
            partition=made.partition,
            options=made.options,
        )
        self.steps.append(f"{creator}: {made}")
        self.pair.create(
            "java",
            TWIN,
            made.columns,
            pk=made.pk,
            partition=made.partition,
            options={
                **({"bucket": "-1" if made.goes_across else "1"} if made.pk else PLAIN_APPEND),
                **made.meaning,
            },
        )
        self.pool = self._pool([name for name in made.columns if name[0] == "k"], 6)
        self.partitions = self._pool(list(made.partition), 3) if made.partition else None

    def _pool(self, names: list[str], count: int) -> pa.Table:
        return pa.table(
            {name: self._distinct(self.definition.columns[name], count) for name in names}
        )

    def _distinct(self, text: str, count: int) -> pa.Array:
        """Make values of a key or partition column, short enough to name a folder."""
        type_ = parse_type(text)
        is_for_orc = self.definition.is_for_orc
        values = [random_value(type_, self.rng, for_orc=is_for_orc) for _ in range(count)]
        short = [value if len(str(value)) < SHORT else None for value in values]
        if not type_.nullable:
            short = [value for value in short if value is not None] or values[:1]
            short = [short[i % len(short)] for i in range(count)]
        return pa.array(short, to_arrow(type_))

    def side(self) -> Side:
        return SIDES[int(self.rng.integers(2))]

    def rows(self, count: int) -> pa.Table:
        return random_data(self.definition, self.pool, self.partitions, count, self.rng)

    # --- steps ---------------------------------------------------------------------------

    def write(self) -> None:
        count = int(self.rng.choice([1, 4, 25]))
        rows, side = self.rows(count), self.side()
        kinds = self.definition.kinds
        if len(kinds) > 1:
            rows = rows.append_column(KIND, pa.array(self.rng.choice(kinds, count).tolist()))
        self.steps.append(f"{side} writes {count} rows")
        self.pair.write(side, TABLE, rows)
        fields = self.pair.open(TABLE).schema.fields
        self.pair.java("write", table=TWIN, rows=with_kinds(rows, fields))
        self._settle()

    def compact(self) -> None:
        side = self.side()
        self.steps.append(f"{side} compacts")
        if side == "us":
            self.pair.open(TABLE).compact(full=True)
        else:
            self.pair.java("compact", table=TABLE)
        self.pair.java("compact", table=TWIN)

    def overwrite_all(self) -> None:
        rows, side = self.rows(5), self.side()
        self.steps.append(f"{side} overwrites all")
        fields = self.pair.open(TABLE).schema.fields
        values = java_rows(rows, fields)
        javas: dict[str, Any] = {
            "overwrite": {},
            "options": {"dynamic-partition-overwrite": "false"},
        }
        if side == "us":
            self.pair.open(TABLE).overwrite(rows, dynamic=False)
        else:
            self.pair.java.write(TABLE, values, **javas)
        self.pair.java.write(TWIN, values, **javas)
        self._settle()
        self._settle_overwrite()

    def _settle(self) -> None:
        """Let Java find the keys of a table with first-row: it looks in compacted files only."""
        if self.definition.goes_across and self.definition.engine == "first-row":
            self.compact()

    def _settle_overwrite(self) -> None:
        """Let readers of compacted files find rows that no writer compacts.

        Since 1.4 Java moves files that replace others to the highest level, where their keys do
        not overlap: in the twin's one bucket, or in one of several.
        """
        meaning = self.definition.meaning
        skips_level_0 = "deletion-vectors.enabled" in meaning or (
            self.definition.engine == "first-row"
        )
        is_hidden = self.definition.pk and "write-only" in meaning and skips_level_0
        if is_hidden and is_since_1_4(self.pair.java.release):
            self.compact()

    def delete(self) -> None:
        """Delete rows of an append table; Java does that where there are deletion vectors."""
        chosen = self._condition()
        if self.definition.pk or chosen is None:
            return
        ours, javas = chosen
        has_vectors = "deletion-vectors.enabled" in self.definition.storage
        side = self.side() if has_vectors else "us"
        self.steps.append(f"{side} deletes {javas}")
        if side == "us":
            self.pair.open(TABLE).delete(ours)
        else:
            self.pair.java("append_delete", table=TABLE, filter=javas)
        self.pair.java("append_delete", table=TWIN, filter=javas)

    def filter(self) -> None:
        """Read with a condition and some columns."""
        chosen = self._condition()
        if chosen is None:
            return
        ours, javas = chosen
        names = list(self.definition.columns)
        columns = [names[i] for i in self.rng.permutation(len(names))[: self.rng.integers(1, 4)]]
        # Java filters by no column that is not read.
        columns = list(dict.fromkeys([*columns, javas[1]]))
        self.steps.append(f"both read {columns} where {javas}")
        found = unordered(self.pair.our_rows(TABLE, columns=columns, where=ours))
        fields = [self.pair.open(TABLE).schema.field(name) for name in columns]
        theirs = self.pair.java.rows(TABLE, filter=javas, projection=columns)
        self._same(found, unordered(normal_rows(theirs, fields)), "Java reads filtered")

    def _condition(self) -> tuple[Any, list[Any]] | None:
        """Make a condition on a value that is there, for us and for Java."""
        rows = self.pair.open(TABLE).scan().to_arrow()
        columns = self.definition.columns
        usable = [name for name, text in columns.items() if text.startswith(COMPARED)]
        if not rows.num_rows or not usable:
            return None
        name = usable[int(self.rng.integers(len(usable)))]
        position = int(self.rng.integers(rows.num_rows))
        value = rows.column(name)[position].as_py()
        if value is None:
            return pl.col(name).is_null(), ["is_null", name]
        fields = [self.pair.open(TABLE).schema.field(name)]
        [[javas]] = java_rows(rows.select([name]).slice(position, 1), fields)
        symbol = str(self.rng.choice(list(COMPARISONS)))
        return COMPARISONS[symbol](pl.col(name), value), [symbol, name, javas]

    def overwrite_partition(self) -> None:
        """Put new rows in the place of a partition that is one of the pool's."""
        if self.partitions is None or self.definition.goes_across:
            return
        rows = self.rows(4)
        names = self.partitions.column_names
        first = rows.select(names).slice(0, 1)
        for name in names:
            place = rows.schema.get_field_index(name)
            same = first.column(name).combine_chunks().take(pa.array([0] * len(rows)))
            rows = rows.set_column(place, rows.field(place), same)
        side = self.side()
        self.steps.append(f"{side} overwrites the partition {first.to_pylist()}")
        values = java_rows(rows, self.pair.open(TABLE).schema.fields)
        if side == "us":
            self.pair.open(TABLE).overwrite(rows, dynamic=True)
        else:
            self.pair.java.write(TABLE, values, overwrite={})
        self.pair.java.write(TWIN, values, overwrite={})
        self._settle_overwrite()

    def add_column(self) -> None:
        side, name = self.side(), f"added{self.added}"
        self.added += 1
        type_ = str(self.rng.choice(["INT", "STRING", "ARRAY<INT>", "TIMESTAMP(3)"]))
        self.steps.append(f"{side} adds {name} {type_}")
        self._alter(side, pl.AddColumn(name, type_), ["add", name, type_to_json(parse_type(type_))])
        self.definition = self.definition.with_columns({**self.definition.columns, name: type_})

    def rename_column(self) -> None:
        old = self._free()
        if old is None:
            return
        side, new = self.side(), f"added{self.added}"
        self.added += 1
        self.steps.append(f"{side} renames {old} to {new}")
        self._alter(side, pl.RenameColumn(old, new), ["rename", old, new])
        columns = {
            new if name == old else name: text for name, text in self.definition.columns.items()
        }
        self.definition = self.definition.with_columns(columns)

    def drop_column(self) -> None:
        name = self._free()
        if name is None:
            return
        side = self.side()
        self.steps.append(f"{side} drops {name}")
        self._alter(side, pl.DropColumn(name), ["drop", name])
        columns = {n: text for n, text in self.definition.columns.items() if n != name}
        self.definition = self.definition.with_columns(columns)

    def _alter(self, side: Side, ours: Any, javas: list[Any]) -> None:
        self.pair.alter(side, TABLE, ours, javas)
        self.pair.java("alter_table", table=TWIN, changes=[javas])

    def _free(self) -> str | None:
        """Choose a column that no option names."""
        named = " ".join((*self.definition.options, *self.definition.options.values()))
        free = [
            name
            for name in self.definition.columns
            if name[:1] in "va" and name not in named and len(name) > 1
        ]
        return str(self.rng.choice(free)) if free else None

    # --- checks --------------------------------------------------------------------------

    def check(self, earlier: int | None) -> None:
        """Compare the rows of all, now and, unless it is None, at an earlier snapshot."""
        ours = self.shown(self.pair.our_rows(TABLE))
        self._same(ours, self.shown(self.pair.java_rows(TABLE)), "Java reads")
        self._same(ours, self.shown(self.pair.java_rows(TWIN)), "the twin holds")
        table = self.pair.open(TABLE)
        assert table.scan().count() == len(ours), self.steps
        if earlier is not None:
            found = self.shown(self.pair.our_rows(TABLE, snapshot=earlier))
            self._same(found, self.then[earlier], f"snapshot {earlier} held")
        if table.snapshot is not None and table.snapshot.schema_id == table.schema.id:
            self.then[table.snapshot.id] = ours

    def shown(self, rows: list[list[Any]]) -> list[str]:
        """Forget the order of rows, and of elements that Java gathers in a hash table."""
        table = self.pair.open(TABLE)
        places = [
            place
            for place, name in enumerate(table.schema.field_names)
            if table.options.get(f"fields.{name}.aggregate-function") == "collect"
        ]
        for row in rows:
            for place in places:
                row[place] = row[place] and sorted(row[place], key=str)
        return unordered(rows)

    def check_changes(self, *, is_compacted: bool, is_told: bool) -> None:
        """Both read the same changes, which lead from rows to rows.

        Parameters
        ----------
        is_compacted
            Whether all changes of earlier commits are recorded by now.
        is_told
            Whether what was done is recorded at all, which overwrites and changes of columns are
            not.
        """
        producer = self.definition.storage.get("changelog-producer")
        table = self.pair.open(TABLE)
        if producer is None or table.snapshot is None:
            return
        start, end = self.changes_since, table.snapshot.id
        self.changes_since = end
        ours, theirs = list[list[Any]](), list[list[Any]]()
        if start < end:
            ours, theirs = self._our_changes(start, end), self._java_changes(start, end)
            self._same(self.shown(ours), self.shown(theirs), f"changes of {start} to {end}")
        if not is_told:
            self.replayed = None
        if producer == "input":
            return
        if self.replayed is not None:
            new = [row for row in ours if row[-1] in ("+I", "+U")]
            old = [row for row in ours if row[-1] not in ("+I", "+U")]
            self.replayed.update(self.shown([row[:-1] for row in new]))
            self.replayed.subtract(self.shown([row[:-1] for row in old]))
        if is_compacted:
            now = Counter(self.shown(self.pair.our_rows(TABLE)))
            if self.replayed is not None:
                told = {row: count for row, count in self.replayed.items() if count}
                assert told == now, (f"what changes up to {end} tell", self.steps)
            self.replayed = now

    def _our_changes(self, start: int, end: int) -> list[list[Any]]:
        """Return rows with their kinds at the end."""
        found = self.pair.open(TABLE).changes(start, end, mode="changelog").to_arrow()
        kinds = found["rowkind"].to_pylist()
        rows = java_rows(found.drop_columns("rowkind"), self.pair.open(TABLE).schema.fields)
        return [[*row, kind] for kind, row in zip(kinds, rows, strict=True)]

    def _java_changes(self, start: int, end: int) -> list[list[Any]]:
        between = {
            "incremental-between": f"{start},{end}",
            "incremental-between-scan-mode": "changelog",
        }
        found = self.pair.java("read", table=f"{TABLE}$audit_log", options=between)
        fields = self.pair.open(TABLE).schema.fields
        rows = normal_rows([values[1:] for _, values in found], fields)
        return [[*row, values[0]] for (_, values), row in zip(found, rows, strict=True)]

    def check_ids(self) -> None:
        """Both read the same ids of rows, none of them twice; Java reads none in Avro files."""
        if "row-tracking.enabled" not in self.definition.storage:
            return
        found = self.pair.catalog.system_table(f"{TABLE}$row_tracking").scan().to_arrow()
        if "avro" not in " ".join(self.definition.storage.values()):
            schema = self.pair.open(TABLE).scan(found.column_names).schema
            fields = [schema.field(name) for name in found.column_names]
            theirs = normal_rows(self.pair.java.rows(f"{TABLE}$row_tracking"), fields)
            self._same(unordered(java_rows(found, fields)), unordered(theirs), "ids of Java")
        ids = found["_ROW_ID"].to_pylist()
        assert len({*ids}) == len(ids), self.steps

    def check_end(self) -> None:
        """Whatever was done, the table is sound."""
        found = self.pair.open(TABLE).fsck(deep=True).findings
        assert found == (), (found, self.steps)

    def _same(self, ours: list[str], others: list[str], what: str) -> None:
        assert ours == others, (what, difference(ours, others), self.steps)

    def go(self, count: int = STEPS) -> None:
        """Do so many steps, and check after each."""
        steps: list[Callable[[], None]] = [
            *[self.write] * 6,
            self.compact,
            *[self.delete] * 2,
            *[self.filter] * 2,
            self.overwrite_all,
            self.overwrite_partition,
            self.add_column,
            self.rename_column,
            self.drop_column,
        ]
        for _ in range(count):
            step = steps[int(self.rng.integers(len(steps)))]
            done = len(self.steps)
            step()
            # Drawn whatever the step was, so that kept seeds go on making the same tables.
            earlier = int(self.rng.choice(list(self.then))) if self.then else None
            if step != self.filter and len(self.steps) > done:
                self.check(earlier)
                self.check_ids()
                self.check_changes(
                    is_compacted=step == self.compact,
                    is_told=step in (self.write, self.compact),
                )
        self.check_end()


def kept_seeds() -> list[int]:
    """Return the seeds that once found something."""
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    return [int(line.split()[0]) for line in lines if line[:1].isdigit()]


@pytest.mark.in_turn(SEEDS)
def test_both_and_a_plain_twin_agree(pair: Pair, seed: int, number: int) -> None:
    Walk(pair, np.random.default_rng([seed, number])).go()


@pytest.mark.parametrize("kept", kept_seeds())
def test_what_once_was_wrong_is_right(pair: Pair, kept: int) -> None:
    rng = np.random.default_rng([20261121, kept])
    Walk(pair, rng, features=FEATURES - LATER_FEATURES).go()
