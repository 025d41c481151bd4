"""Tables that combine whatever can be combined, and what they ought to hold, in dicts.

A row is a dict by a column's number, so that a column that is renamed keeps its values; so is a
struct. A key's row is merged as it is written: the model knows nothing of files and levels.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

Row: TypeAlias = dict[int, Any]
Key: TypeAlias = tuple[Any, ...]

INNER = {"INT": "BIGINT", "BIGINT": "", "STRING": ""}
"""Types of fields of structs, and to what they may change."""
WIDER: Mapping[str, Sequence[str]] = {
    "TINYINT": ("SMALLINT", "BIGINT", "STRING"),
    "INT": ("BIGINT", "STRING", "DECIMAL(12, 2)"),
    "BIGINT": ("STRING",),
    "FLOAT": ("DOUBLE",),
    "DECIMAL(9, 2)": ("DECIMAL(22, 3)", "STRING"),
    "DATE": ("STRING", "TIMESTAMP(6)"),
    "TIMESTAMP(3)": ("TIMESTAMP(6)",),
    "BOOLEAN": ("STRING",),
}
FIRST_FREE = 2
"""The number of the first column that is neither key nor partition."""
STRUCT, STRUCTS = "ROW", "ARRAY<ROW>"
PLAIN = [*WIDER, "DOUBLE", "STRING", "BYTES", "ARRAY<INT>", "MAP<STRING, INT>", STRUCT, STRUCTS]
_TEXTS = ("", "a", "b", "ab", "é", "z" * 40)
_VALUES: Mapping[str, Sequence[Any]] = {
    "TINYINT": (0, 1, -7, 127),
    "SMALLINT": (0, 1, -7, 1270),
    "INT": (0, 1, 2, 3, -7, 1000),
    "BIGINT": (0, 1, 2, 3, -7, 2**40),
    "FLOAT": (0.0, 0.5, -3.25),
    "DOUBLE": (0.0, 0.5, -3.25, 1e10),
    "STRING": _TEXTS,
    "BYTES": (b"", b"a", b"\x00\xff"),
    "DECIMAL(9, 2)": (Decimal("0.00"), Decimal("-1.25"), Decimal("99.99")),
    "DECIMAL(12, 2)": (Decimal("0.00"), Decimal("-1.25"), Decimal("1234567890.99")),
    "DECIMAL(22, 3)": (Decimal("0.000"), Decimal("-1.250"), Decimal("1e18")),
    "DATE": (dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(2026, 2, 28)),
    "TIMESTAMP(3)": (dt.datetime(1970, 1, 1), dt.datetime(2026, 2, 28, 1, 2, 3, 4000)),
    "TIMESTAMP(6)": (dt.datetime(1969, 12, 31, 23), dt.datetime(2026, 2, 28, 1, 2, 3, 4)),
    "BOOLEAN": (True, False),
}


@dataclass(frozen=True)
class Column:
    """A column, or a field of a struct, by a number that stays."""

    number: int
    name: str
    type: str
    fields: tuple[Column, ...] = ()

    @property
    def sql(self) -> str:
        """The type, as a catalog is told it."""
        inner = ", ".join(f"{one.name} {one.type}" for one in self.fields)
        return self.type.replace("ROW", f"ROW<{inner}>") if self.fields else self.type

    @property
    def base(self) -> str:
        """The type without NOT NULL."""
        return self.type.removesuffix(" NOT NULL")

    def some(self, rng: random.Random) -> Any:
        """Make up a value, as the model has it."""
        if not self.type.endswith("NOT NULL") and rng.random() < 0.2:
            return None
        match self.base:
            case "ROW":
                return {one.number: one.some(rng) for one in self.fields}
            case "ARRAY<ROW>":
                some = range(rng.randrange(3))
                return [{one.number: one.some(rng) for one in self.fields} for _ in some]
            case "ARRAY<INT>":
                return [rng.choice((1, 2, None)) for _ in range(rng.randrange(3))]
            case "MAP<STRING, INT>":
                return [(key, rng.randrange(3)) for key in "ab" if rng.random() < 0.5]
        return rng.choice(_VALUES[self.base])

    def shown(self, value: Any) -> Any:  # noqa: PLR0911 - one return a type
        """Return a value that was written under an older type, or names, as it is read now."""
        if value is None:
            return None
        match self.base:
            case "ROW":
                return {one.name: one.shown(value.get(one.number)) for one in self.fields}
            case "ARRAY<ROW>":
                names = self.fields
                return [{n.name: n.shown(each.get(n.number)) for n in names} for each in value]
            case "STRING":
                if isinstance(value, bool):
                    return str(value).lower()
                return value if isinstance(value, str) else str(value)
            case "TIMESTAMP(6)" if not isinstance(value, dt.datetime):
                return dt.datetime.combine(value, dt.time())
            case "DECIMAL(12, 2)" | "DECIMAL(22, 3)":
                return Decimal(value).quantize(Decimal("0.01" if "12" in self.base else "0.001"))
        return value


def last_non_null(old: Any, new: Any) -> Any:
    """Keep the newest value that is not null."""
    return old if new is None else new


def _or_none(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def merged(old: Any, new: Any) -> Any:
        return last_non_null(old, new) if old is None or new is None else function(old, new)

    return merged


Merge: TypeAlias = Callable[[Any, Any], Any]
FUNCTIONS: Mapping[str, tuple[Sequence[str], Merge]] = {
    "sum": (("INT", "BIGINT", "DECIMAL(9, 2)"), _or_none(lambda old, new: old + new)),
    "max": (("INT", "STRING", "DATE", "TIMESTAMP(3)"), _or_none(max)),
    "min": (("BIGINT", "STRING", "DECIMAL(9, 2)"), _or_none(min)),
    "last_value": (("INT", "STRING", "ARRAY<INT>", STRUCT), lambda _, new: new),
    "last_non_null_value": (("INT", "DATE", STRUCT, STRUCTS, "BYTES"), last_non_null),
    "first_value": (("BIGINT", "STRING"), lambda old, _: old),
    "first_non_null_value": (("INT", STRUCT), lambda old, new: new if old is None else old),
    "bool_or": (("BOOLEAN",), _or_none(lambda old, new: old or new)),
    "bool_and": (("BOOLEAN",), _or_none(lambda old, new: old and new)),
    "merge_map": (
        ("MAP<STRING, INT>",),
        _or_none(lambda old, new: sorted({**dict(old), **dict(new)}.items())),
    ),
    "collect": (("ARRAY<INT>",), _or_none(lambda old, new: [*old, *new])),
}
KEEPS_TYPE = {"sum", "max", "min", "bool_or", "bool_and", "merge_map", "collect"}
RETRACTS: Mapping[str, Merge] = {
    "sum": lambda old, new: old if new is None else (old or 0) - new,
    "last_value": lambda _, __: None,
    "last_non_null_value": lambda old, new: old if new is None else None,
}
"""Those that take values back; the others ignore what is taken back."""


@dataclass
class Definition:
    """A table as it is made, and what its rows mean."""

    columns: list[Column]
    keys: tuple[str, ...]
    partition: tuple[str, ...]
    engine: str
    options: dict[str, str]
    functions: dict[int, str] = field(default_factory=dict)
    """Of an aggregation, or a sequence group, by column."""
    group: tuple[int, ...] = ()
    """A sequence group: what orders it, and its columns."""
    sequence: int | None = None
    deletes: bool = True
    """Whether rows may be deleted."""
    fixed: frozenset[int] = frozenset()
    """Columns that neither go nor get another name or type."""

    @property
    def moves(self) -> bool:
        """Whether a key may go to another partition."""
        return bool(self.keys) and not set(self.partition) <= set(self.keys)

    @property
    def producer(self) -> str:
        """The changelog producer; empty: none."""
        return self.options.get("changelog-producer", "")

    @property
    def is_late(self) -> bool:
        """Whether readers see rows only when they are compacted, which no writer does."""
        if not self.keys:
            return False
        return self.options["bucket"] == "-2" or (
            self.options.get("write-only") == "true"
            and (self.engine == "first-row" or "deletion-vectors.enabled" in self.options)
        )

    def merge(self, old: Row | None, kind: str, new: Row) -> Row | None:  # noqa: PLR0911
        """Return what a key's row becomes."""
        if kind == "-D" and self.options.get("ignore-delete") == "true":
            return old
        if old is None:
            return None if kind == "-D" else dict(new)
        if self.sequence is not None and not self._is_newer(old, new):
            return old
        match self.engine:
            case "first-row":
                return old
            case "deduplicate":
                return None if kind == "-D" else dict(new)
            case "partial-update":
                return None if kind == "-D" else self._updated(old, new)
        return self._aggregated(old, kind, new)

    def _is_newer(self, old: Row, new: Row) -> bool:
        assert self.sequence is not None
        known, given = old.get(self.sequence), new.get(self.sequence)
        return known is None or (given is not None and given >= known)

    def _updated(self, old: Row, new: Row) -> Row:
        if self.group and old.get(self.group[0]) is None:  # never ordered, so never merged
            old = old | dict.fromkeys(self.group)
        row = dict(old)
        given = {number: value for number, value in new.items() if value is not None}
        row.update((number, value) for number, value in given.items() if number not in self.group)
        if not self.group or new.get(self.group[0]) is None:
            return self._in_place(old, row)
        is_newer = old.get(self.group[0]) is None or new[self.group[0]] >= old[self.group[0]]
        for number in self.group:
            if number in self.functions:
                row[number] = FUNCTIONS[self.functions[number]][1](
                    *((old.get(number), new.get(number)))
                )
            elif is_newer:
                row[number] = new.get(number)
        return self._in_place(old, row)

    def _aggregated(self, old: Row, kind: str, new: Row) -> Row | None:
        if kind == "-D" and "aggregation.remove-record-on-delete" in self.options:
            return None
        row = dict(old)
        for number in {*old, *new}:
            function = self.functions.get(number, "last_non_null_value")
            if number < FIRST_FREE:
                row[number] = old[number] if kind == "-D" else new[number]
            elif kind != "-D":
                row[number] = FUNCTIONS[function][1](old.get(number), new.get(number))
            elif function in RETRACTS:
                row[number] = RETRACTS[function](old.get(number), new.get(number))
        return self._in_place(old, row)

    def _in_place(self, old: Row, row: Row) -> Row:
        """Keep a row in its partition."""
        return row | {1: old[1]} if self.moves else row


class Maker:
    """Makes definitions."""

    def __init__(self, rng: random.Random, roots: Sequence[str]) -> None:
        self.rng, self.roots = rng, roots
        self.numbers = FIRST_FREE - 1

    def column(self, name: str, type_: str) -> Column:
        """Make a column that never was."""
        self.numbers += 1
        number = self.numbers
        fields: tuple[Column, ...] = ()
        if "ROW" in type_:
            count = self.rng.randint(1, 3)
            fields = tuple(
                self.column(f"{one}", self.rng.choice([*INNER])) for one in "abc"[:count]
            )
        return Column(number, name, type_, fields)

    def definition(self) -> Definition:
        """Make up a definition."""
        rng = self.rng
        engine = rng.choice(
            [
                "append",
                "append",
                "deduplicate",
                "deduplicate",
                "partial-update",
                "group",
                "aggregation",
                "aggregation",
                "first-row",
            ]
        )
        key = rng.choice(["INT", "STRING"])
        columns = [Column(0, "k", f"{key} NOT NULL"), Column(1, "p", "STRING NOT NULL")]
        types = [rng.choice(PLAIN) for _ in range(rng.randint(1, 4))]
        columns += [self.column(f"v{number}", type_) for number, type_ in enumerate(types)]
        place = rng.choice(
            ["fixed", "partitions", "dynamic", "dynamic partitions", "moving", "postponed"]
        )
        is_parted = place in ("partitions", "dynamic partitions", "moving")
        partition = ("p",) if is_parted or (engine == "append" and rng.random() < 0.5) else ()
        made = Definition(columns, (), partition, engine, {})
        if engine == "append":
            self._append(made)
        else:
            made.keys = ("k", "p") if place != "moving" and partition else ("k",)
            self._place(made, place)
            self._engine(made)
            self._keyed(made)
        self._store(made)
        return made

    def _append(self, made: Definition) -> None:
        rng, options = self.rng, made.options
        options["bucket"] = "-1"
        if rng.random() < 0.4:
            options |= {"bucket": str(rng.randint(1, 3)), "bucket-key": "k"}
        elif rng.random() < 0.4:
            options["row-tracking.enabled"] = "true"
            if rng.random() < 0.6:
                options["data-evolution.enabled"] = "true"
                made.deletes = False
        if made.deletes and rng.random() < 0.5:
            self._vectors(options)

    def _vectors(self, options: dict[str, str]) -> None:
        options["deletion-vectors.enabled"] = "true"
        if self.rng.random() < 0.3:
            options["deletion-vectors.bitmap64"] = "true"
        if self.rng.random() < 0.3:
            options["deletion-vector.index-file.target-size"] = "30 b"
        if self.rng.random() < 0.3:
            options["index-file-in-data-file-dir"] = "true"

    def _place(self, made: Definition, place: str) -> None:
        rng = self.rng
        match place:
            case "fixed" | "partitions":
                made.options["bucket"] = str(rng.randint(1, 3))
            case "postponed":
                made.options["bucket"] = "-2"
            case _:
                made.options |= {"bucket": "-1", "dynamic-bucket.target-row-num": "4"}

    def _engine(self, made: Definition) -> None:
        rng, options = self.rng, made.options
        if made.engine == "group":
            made.engine = "partial-update"
            ordering, one, two = (
                self.column(name, type_)
                for name, type_ in (("g", "INT"), ("ga", rng.choice(PLAIN)), ("gb", "BIGINT"))
            )
            made.columns += [ordering, one, two]
            made.group = (ordering.number, one.number, two.number)
            made.fixed = frozenset(made.group)
            options["fields.g.sequence-group"] = "ga,gb"
            if rng.random() < 0.5:
                options["fields.gb.aggregate-function"] = "sum"
                made.functions[two.number] = "sum"
            made.deletes = False
        elif made.engine == "partial-update":
            options["partial-update.remove-record-on-delete"] = "true"
        elif made.engine == "first-row":
            made.deletes = False
        elif made.engine == "aggregation":
            self._aggregation(made)
        if made.engine != "deduplicate":
            options["merge-engine"] = made.engine
        if made.engine == "deduplicate" and rng.random() < 0.25:
            sequence = self.column("s", "INT")
            made.columns.append(sequence)
            made.sequence, options["sequence.field"] = sequence.number, "s"
            made.fixed |= {sequence.number}
            made.deletes = False
        if made.engine == "deduplicate" and not made.moves and rng.random() < 0.1:
            options["ignore-delete"] = "true"

    def _aggregation(self, made: Definition) -> None:
        rng, options = self.rng, made.options
        options["fields.default-aggregate-function"] = "last_non_null_value"
        kept = made.columns[:2]
        for place in range(rng.randint(1, 5)):
            function = rng.choice([*FUNCTIONS])
            column = self.column(f"f{place}", rng.choice(FUNCTIONS[function][0]))
            kept.append(column)
            made.functions[column.number] = function
            options[f"fields.{column.name}.aggregate-function"] = function
            if function not in RETRACTS:
                options[f"fields.{column.name}.ignore-retract"] = "true"
            if function in KEEPS_TYPE:
                made.fixed |= {column.number}
        made.columns = kept
        if rng.random() < 0.3:
            options["aggregation.remove-record-on-delete"] = "true"
        if "p" not in made.keys:
            options["fields.p.ignore-retract"] = "true"

    def _keyed(self, made: Definition) -> None:
        rng, options = self.rng, made.options
        producers = ["", "", "lookup", "full-compaction"]
        has_vectors = made.engine != "first-row" and rng.random() < 0.4
        if made.engine == "deduplicate" and made.sequence is None and not has_vectors:
            producers.append("input")
        if has_vectors or made.engine == "first-row":
            producers.remove("full-compaction")
        if has_vectors:
            self._vectors(options)
        producer = rng.choice(producers)
        if producer:
            options["changelog-producer"] = producer
            if producer != "input" and rng.random() < 0.3:
                options["changelog-producer.row-deduplicate"] = "true"
            if rng.random() < 0.3:
                options["changelog-file.format"] = rng.choice(["avro", "orc", "parquet"])
        if rng.random() < 0.4:
            options["write-only"] = "true"
        options["num-sorted-run.compaction-trigger"] = rng.choice(["2", "3", "5"])

    def _store(self, made: Definition) -> None:
        rng, options = self.rng, made.options
        options["file.format"] = rng.choice(["parquet", "parquet", "orc", "avro"])
        some: dict[str, Sequence[str]] = {
            "file.format.per.level": ["0:avro,5:parquet", "0:orc"],
            "data-file.thin-mode": ["true"],
            "metadata.stats-mode": ["none", "counts", "truncate(3)"],
            "metadata.stats-dense-store": ["false"],
            "target-file-size": ["1 kb"],
            "manifest.target-file-size": ["1 kb"],
            "manifest.merge-min-count": ["2"],
            "file-index.bloom-filter.columns": ["k"],
            "file-index.bitmap.columns": ["k,p"],
            "num-levels": ["3"],
            "read.batch-size": ["3"],
            "source.split.target-size": ["1 kb"],
            "source.split.open-file-cost": ["1 b"],
            "local-sort.max-num-file-handles": ["2"],
            "data-file.path-directory": ["data"],
            "snapshot.ignore-empty-commit": ["false"],
            "manifest.format": ["orc", "parquet"],
        }
        for option, values in some.items():
            if rng.random() < 0.15:
                options[option] = rng.choice(values)
        if rng.random() < 0.2:
            options["data-file.external-paths"] = ",".join(self.roots)
            options["data-file.external-paths.strategy"] = "round-robin"
            if made.keys:  # hash indexes are in the table's folder
                options.pop("index-file-in-data-file-dir", None)
