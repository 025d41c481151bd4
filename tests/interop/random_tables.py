"""Random definitions of tables: every combination of what a user can ask for.

What a table means - columns, keys, merge engine - is kept apart from how it is stored, so that
the same rows can also be given to a plain table which only Java touches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.text import parse_type
from tests.interop.java_build import is_since_1_4
from tests.spec.random_columns import random_column

KEY_TYPES = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "STRING",
    "CHAR(3)",
    "VARCHAR(10)",
    "BYTES",
    "BINARY(4)",
    "DATE",
    "TIME(3)",
    "DECIMAL(9, 2)",
    "DECIMAL(22, 3)",
    "TIMESTAMP(0)",
    "TIMESTAMP(3)",
    "TIMESTAMP(6)",
    "TIMESTAMP(6) WITH LOCAL TIME ZONE",
]
VALUE_TYPES = [
    *KEY_TYPES,
    "FLOAT",
    "DOUBLE",
    "DECIMAL(38, 10)",
    "TIMESTAMP(9)",
    "ARRAY<STRING>",
    "ARRAY<DECIMAL(22, 3)>",
    "MAP<STRING, INT>",
    "MAP<INT, ARRAY<TIMESTAMP(3)>>",
    "MULTISET<STRING>",
    "ROW<a INT, b ROW<c STRING, d DATE>>",
    "ARRAY<ROW<x BIGINT, y TIMESTAMP(6)>>",
]
NOT_IN_AVRO = ("(9)",)
PARTITION_TYPES = ["STRING", "INT", "DATE", "BOOLEAN", "DECIMAL(9, 2)", "TIMESTAMP(3)", "TINYINT"]

AGGREGATIONS = {
    "sum": ["INT", "BIGINT", "DOUBLE", "DECIMAL(22, 3)"],
    "product": ["BIGINT", "DOUBLE"],
    "max": ["INT", "STRING", "DATE", "TIMESTAMP(6)", "DOUBLE", "DECIMAL(9, 2)"],
    "min": ["BIGINT", "STRING", "DATE", "TIMESTAMP(3)", "DECIMAL(22, 3)"],
    "last_value": ["INT", "STRING", "ARRAY<STRING>"],
    "last_non_null_value": ["INT", "STRING", "MAP<STRING, INT>"],
    "first_value": ["INT", "STRING"],
    "first_non_null_value": ["BIGINT", "STRING"],
    "listagg": ["STRING"],
    "bool_and": ["BOOLEAN"],
    "bool_or": ["BOOLEAN"],
    "collect": ["ARRAY<INT>"],
    "merge_map": ["MAP<STRING, INT>"],
}
RETRACTING = {"sum", "product", "last_value", "last_non_null_value", "collect", "merge_map"}


@dataclass(frozen=True)
class Definition:
    """A table that both sides work on."""

    columns: Mapping[str, str]
    """Type texts by name."""
    pk: Sequence[str]
    partition: Sequence[str]
    meaning: Mapping[str, str]
    """Options that decide what rows there are."""
    storage: Mapping[str, str]
    """Options that decide how they are stored."""
    kinds: tuple[str, ...]
    """Row kinds that may be written."""
    small: frozenset[str]
    """Columns whose values are small, so that sums stay exact."""

    @property
    def engine(self) -> str:
        """The merge engine, "" without a primary key."""
        return self.meaning.get("merge-engine", "deduplicate") if self.pk else ""

    @property
    def goes_across(self) -> bool:
        """Whether keys may move from partition to partition."""
        return bool(self.pk) and not set(self.partition) <= set(self.pk)

    @property
    def is_for_orc(self) -> bool:
        """Whether ORC files hold the rows."""
        return "orc" in " ".join(self.storage.values())

    @property
    def options(self) -> dict[str, str]:
        """All options of the table."""
        return {**self.meaning, **self.storage}

    def for_release(self, release: str) -> Definition:
        """Return the definition without what a release of Java answers otherwise than we do."""
        meaning, kinds = self.meaning, self.kinds
        if not is_since_1_4(release):
            meaning = {
                key: "last_non_null_value" if value == "listagg" else value
                for key, value in meaning.items()
                if key != "sequence.field" or not self.removes_on_delete
            }
        elif any("remove-record" in key or "sequence-group" in key for key in meaning):
            kinds = tuple(kind for kind in kinds if kind in ("+I", "+U"))
        return Definition(
            self.columns, self.pk, self.partition, meaning, self.storage, kinds, self.small
        )

    @property
    def removes_on_delete(self) -> bool:
        """Whether a ``-D`` removes the row."""
        return any(key.endswith("remove-record-on-delete") for key in self.meaning)

    def with_columns(self, columns: Mapping[str, str]) -> Definition:
        """Return the definition after a schema change."""
        return Definition(
            columns, self.pk, self.partition, self.meaning, self.storage, self.kinds, self.small
        )


class _Maker:
    """Choices that depend on each other."""

    def __init__(self, rng: np.random.Generator, features: frozenset[str]) -> None:
        self.rng, self.features = rng, features
        self.is_keyed = self.maybe(0.65)
        self.format = self.any_of(["parquet", *sorted(features & {"orc", "avro"})])
        self.meaning: dict[str, str] = {"write-only": "true"}
        self.storage: dict[str, str] = {"file.format": self.format}
        self.kinds: tuple[str, ...] = ("+I",)
        self.small: set[str] = set()
        self.keys = [f"k{i}" for i in range(int(rng.integers(1, 3)))]
        self.partition = [f"p{i}" for i in range(int(rng.choice([0, 0, 1, 1, 2])))]
        self.columns = {name: f"{self.any_of(KEY_TYPES)} NOT NULL" for name in self.keys}
        self.columns |= {name: self.any_of(PARTITION_TYPES) for name in self.partition}

    def maybe(self, chance: float) -> bool:
        return bool(self.rng.random() < chance)

    def any_of(self, choices: Sequence[str]) -> str:
        return str(choices[int(self.rng.integers(len(choices)))])

    def value_type(self) -> str:
        fit = [
            text
            for text in VALUE_TYPES
            if self.format != "avro" or not any(part in text for part in NOT_IN_AVRO)
        ]
        return self.any_of(fit)

    def definition(self) -> Definition:
        engines = ["deduplicate"] * 2
        engines += sorted(self.features & {"first-row", "partial-update", "aggregation"})
        engine = self.any_of(engines) if self.is_keyed else ""
        {
            "": self.append,
            "deduplicate": self.deduplicate,
            "first-row": self.first_row,
            "partial-update": self.partial_update,
            "aggregation": self.aggregation,
        }[engine]()
        if engine not in ("", "deduplicate"):
            self.meaning["merge-engine"] = engine
        self.store()
        goes_across = self.across(engine)
        if not goes_across:
            self.changelog(engine)
        pk = [*self.keys, *(() if goes_across else self.partition)] if self.is_keyed else []
        if self.is_keyed:
            self.columns = {
                name: text if name not in pk or "NOT NULL" in text else f"{text} NOT NULL"
                for name, text in self.columns.items()
            }
        return Definition(
            self.columns,
            pk,
            self.partition,
            self.meaning,
            self.storage,
            self.kinds,
            frozenset(self.small),
        )

    def across(self, engine: str) -> bool:
        """Choose whether keys may move from partition to partition, where that can be."""
        if (
            "across" not in self.features
            or not (self.is_keyed and self.partition)
            or "sequence.field" in self.meaning
            or "deletion-vectors.enabled" in self.meaning
            or not self.maybe(0.4)
        ):
            return False
        self.storage["bucket"] = "-1"
        self.storage.pop("bucket-function.type", None)
        if engine == "deduplicate":
            self.meaning.pop("ignore-delete", None)
        else:
            # Java makes inserts of deletes that it takes to the partition of their key.
            self.kinds = ("+I", "+U") if engine != "first-row" else ("+I",)
        return True

    def changelog(self, engine: str) -> None:
        """Choose what records the changes of a table with a primary key."""
        if "changelog-producer" not in self.features or not engine or not self.maybe(0.5):
            return
        producers = ["lookup"]
        if engine != "first-row":
            producers.append("input")
            if "deletion-vectors.enabled" not in self.meaning:
                producers.append("full-compaction")
        self.storage["changelog-producer"] = self.any_of(producers)

    def values(self, most: int = 4) -> list[str]:
        names = [f"v{i}" for i in range(int(self.rng.integers(1, most + 1)))]
        self.columns |= {name: self.value_type() for name in names}
        return names

    def append(self) -> None:
        self.values()
        if self.maybe(0.5):
            self.storage |= {"bucket": str(self.rng.integers(1, 4)), "bucket-key": "k0"}
        else:
            self.storage["bucket"] = "-1"
            if "row-tracking" in self.features and self.maybe(0.5):
                self.storage["row-tracking.enabled"] = "true"
        if "deletion-vectors" in self.features and self.maybe(0.5):
            self.storage["deletion-vectors.enabled"] = "true"
            if self.maybe(0.4):
                self.storage["deletion-vectors.bitmap64"] = "true"

    def deduplicate(self) -> None:
        self.values()
        self.kinds = ("+I", "+U", "-U", "-D")
        self.bucket()
        self.sequence()
        if "ignore-delete" in self.features and self.maybe(0.1):
            self.meaning["ignore-delete"] = "true"
        if "deletion-vectors" in self.features and self.maybe(0.2):
            self.meaning["deletion-vectors.enabled"] = "true"

    def first_row(self) -> None:
        self.values()
        self.kinds = ("+I", "-D") if self.maybe(0.4) else ("+I",)
        if "-D" in self.kinds:
            self.meaning["ignore-delete"] = "true"
        self.bucket()

    def partial_update(self) -> None:
        self.values(3)
        self.bucket()
        how = self.any_of(["plain", "group", "group", "remove", "ignore"])
        if how == "group":
            self.columns |= {"g1": "INT", "a": "INT", "b": "STRING", "g2": "INT", "c": "BIGINT"}
            self.meaning |= {"fields.g1.sequence-group": "a,b", "fields.g2.sequence-group": "c"}
            self.small |= {"g1", "g2", "c"}
            if "aggregation" in self.features and self.maybe(0.5):
                self.meaning["fields.c.aggregate-function"] = "sum"
            self.kinds = ("+I", "+U", "-U", "-D") if self.maybe(0.5) else ("+I",)
            if "-D" in self.kinds and self.maybe(0.3):
                self.meaning["partial-update.remove-record-on-sequence-group"] = "g1"
        elif how == "remove":
            self.meaning["partial-update.remove-record-on-delete"] = "true"
            self.kinds = ("+I", "-D")
        elif how == "ignore":
            self.meaning["ignore-delete"] = "true"
            self.kinds = ("+I", "+U", "-U", "-D")
        if how != "group":
            self.sequence()

    def aggregation(self) -> None:
        self.bucket()
        retracts = self.maybe(0.4)
        functions = sorted(RETRACTING if retracts else AGGREGATIONS)
        for i in range(int(self.rng.integers(1, 5))):
            function = self.any_of(functions)
            name = f"v{i}"
            self.columns[name] = self.any_of(AGGREGATIONS[function])
            self.meaning[f"fields.{name}.aggregate-function"] = function
            if function in ("sum", "product", "collect"):
                self.small.add(name)
            if function == "collect" and self.maybe(0.5):
                self.meaning[f"fields.{name}.distinct"] = "true"
        self.kinds = ("+I", "+U", "-U", "-D") if retracts else ("+I", "+U")
        if retracts and self.maybe(0.3):
            self.meaning["aggregation.remove-record-on-delete"] = "true"
        if self.maybe(0.3):
            self.sequence()

    def sequence(self) -> None:
        if not self.maybe(0.4):
            return
        self.columns["s"] = "INT"
        self.meaning["sequence.field"] = "s"
        self.small.add("s")
        if self.maybe(0.3):
            self.columns["t"] = "BIGINT"
            self.meaning["sequence.field"] = "s,t"
            self.small.add("t")
        # No descending order: Java 1.3.1 forgets it among the rows of one commit.

    def bucket(self) -> None:
        choices = ["fixed", *sorted(self.features & {"dynamic"})]
        if self.any_of(choices) == "dynamic":
            self.storage |= {"bucket": "-1", "dynamic-bucket.target-row-num": "5"}
            return
        self.storage["bucket"] = str(self.rng.integers(1, 4))
        if "bucket-function" in self.features and self.maybe(0.2):
            is_whole = self.columns["k0"].split()[0] in ("INT", "BIGINT")
            function = "mod" if len(self.keys) == 1 and is_whole else "default"
            self.storage["bucket-function.type"] = function

    def store(self) -> None:
        """Choose what does not change the rows."""
        choices = {
            "data-file.thin-mode": ["true"] if self.is_keyed else [],
            "data-file.path-directory": ["data"],
            "metadata.stats-mode": ["none", "counts", "full", "truncate(3)"],
            "metadata.stats-dense-store": ["false"],
            "partition.legacy-name": ["false"],
            "file.compression": ["snappy"] if self.format != "avro" else ["zstd"],
            "file.suffix.include.compression": ["true"],
            "manifest.merge-min-count": ["2"],
            "manifest.target-file-size": ["1 kb"],
            "target-file-size": ["4 kb"],
            "file.format.per.level": ["0:avro,5:parquet"] if self.format != "avro" else [],
            "file-index.bloom-filter.columns": self.indexed(),
            "file-index.bitmap.columns": self.indexed(),
        }
        for key, values in choices.items():
            if key in self.features and values and self.maybe(0.15):
                self.storage[key] = self.any_of(values)
        if self.storage.get("file.format.per.level") and any(
            part in text for text in self.columns.values() for part in NOT_IN_AVRO
        ):
            del self.storage["file.format.per.level"]

    def indexed(self) -> list[str]:
        fit = ("INT", "STRING", "BIGINT")
        return [name for name, text in self.columns.items() if text.split()[0] in fit]


def random_definition(rng: np.random.Generator, features: frozenset[str]) -> Definition:
    """Make a definition that uses no more than ``features``."""
    return _Maker(rng, features).definition()


def random_data(
    definition: Definition,
    pool: pa.Table,
    partitions: pa.Table | None,
    count: int,
    rng: np.random.Generator,
) -> pa.Table:
    """Make rows whose keys and partitions come from pools, so that they meet."""
    chosen = dict.fromkeys(pool.column_names, pool)
    if partitions is not None:
        chosen |= dict.fromkeys(partitions.column_names, partitions)
    # Columns of a pool are chosen together: a partition is a row of its pool.
    rows = {id(table): rng.integers(0, len(table), count) for table in chosen.values()}
    columns = []
    for name in definition.columns:
        if name in chosen:
            table = chosen[name]
            columns.append(table.column(name).combine_chunks().take(pa.array(rows[id(table)])))
        else:
            columns.append(_values(definition, name, count, rng))
    schema = pa.schema(
        pa.field(name, column.type, nullable="NOT NULL" not in text)
        for (name, text), column in zip(definition.columns.items(), columns, strict=True)
    )
    return pa.table(columns, schema=schema)


def _values(definition: Definition, name: str, count: int, rng: np.random.Generator) -> pa.Array:
    text = definition.columns[name]
    type_ = parse_type(text)
    if name not in definition.small:
        return random_column(type_, count, rng, for_orc=definition.is_for_orc)
    values = [_small(text, rng) if rng.random() > 0.15 else None for _ in range(count)]
    if definition.meaning.get(f"fields.{name}.aggregate-function") == "product":
        values = [1 if value == 0 else value for value in values]  # nothing is divided by 0
    return pa.array(values, to_arrow(type_))


def _small(text: str, rng: np.random.Generator) -> Any:
    number = int(rng.integers(-4, 6))
    if text.startswith("ARRAY"):
        return [int(each) for each in rng.integers(0, 4, rng.integers(0, 4))]
    if text.startswith("DECIMAL"):
        return Decimal(number) / 8
    if text.startswith("DOUBLE"):
        return number / 2
    return number
