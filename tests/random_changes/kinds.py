"""Kinds of tables that random statements change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tests.random_changes.values import ARRAY, STRUCT

Engine: TypeAlias = Literal["append", "deduplicate", "partial-update", "aggregation", "first-row"]
"""What a new row makes of the old one with its key; append: there are no keys."""
COLUMNS = {
    "id": "INT",
    "p": "INT",
    "v": "STRING",
    "n": "BIGINT",
    "m": "DECIMAL(10, 2)",
    "d": "DOUBLE",
    "day": "DATE",
    "ts": "TIMESTAMP",
    "b": "BOOLEAN",
    "x": STRUCT,
    "l": ARRAY,
}
"""``id`` is never NULL, ``p`` only where it is no key."""


def our_columns(keys: Sequence[str] = ()) -> dict[str, str]:
    """Return the columns as a catalog of ours is told them."""
    types = {name: kind.replace(STRUCT, "ROW<a INT, c STRING>") for name, kind in COLUMNS.items()}
    return {name: f"{kind} NOT NULL" if name in keys else kind for name, kind in types.items()}


@dataclass(frozen=True, slots=True)
class Kind:
    """How a table is made, and what can be done with it."""

    keys: Sequence[str] = ()
    partitions: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    deletes: bool = True
    updates: bool = True
    moves: bool = False
    """Whether a row that is written again with another ``p`` moves to that partition."""
    evolves: bool = True
    """Whether columns are added, renamed and dropped meanwhile."""

    @property
    def engine(self) -> Engine:
        """Its merge engine."""
        if not self.keys:
            return "append"
        return self.options.get("merge-engine", "deduplicate")  # type: ignore[return-value]

    @property
    def sequence(self) -> str:
        """The column that says which of two rows is newer; empty: the one that comes later."""
        return self.options.get("sequence.field", "")

    @property
    def group(self) -> Sequence[str]:
        """The columns of its sequence group, the one that orders them first; () if it has none."""
        key = "fields.n.sequence-group"
        return ("n", *self.options[key].split(",")) if key in self.options else ()

    @property
    def order(self) -> str:
        """The column that says which of two rows, or of their parts, is newer; empty: none."""
        return self.sequence or next(iter(self.group), "")

    @property
    def is_postponed(self) -> bool:
        """Whether rows wait for a compaction until they are seen."""
        return self.options.get("bucket") == "-2"


_VECTORS = {"deletion-vectors.enabled": "true"}
_IDS = {"row-tracking.enabled": "true"}
_APART = _IDS | {"data-evolution.enabled": "true"}
_REMOVING = {"partial-update.remove-record-on-delete": "true"}
_SUMS = {
    "merge-engine": "aggregation",
    "fields.n.aggregate-function": "sum",
    "fields.m.aggregate-function": "max",
    "fields.day.aggregate-function": "min",
    "fields.default-aggregate-function": "last_non_null_value",
}
_GROUP = {"merge-engine": "partial-update", "fields.n.sequence-group": "v,m,x"}
_ID, _BOTH, _P = ["id"], ["id", "p"], ["p"]

KINDS: dict[str, Kind] = {
    "append": Kind(),
    "append-partitions": Kind(partitions=_P),
    "append-vectors": Kind(options=_VECTORS),
    "append-vectors-partitions": Kind(
        partitions=_P, options=_VECTORS | {"deletion-vectors.bitmap64": "true"}
    ),
    "append-buckets": Kind(options={"bucket": "3", "bucket-key": "id"}),
    "append-orc": Kind(options={"file.format": "orc"}),
    "append-avro-vectors": Kind(options=_VECTORS | {"file.format": "avro"}),
    "ids": Kind(options=_IDS),
    "ids-vectors-partitions": Kind(partitions=_P, options=_IDS | _VECTORS),
    "columns-apart": Kind(options=_APART, deletes=False),
    "columns-apart-partitions": Kind(partitions=_P, options=_APART, deletes=False),
    "keyed": Kind(_ID, options={"bucket": "2"}),
    "keyed-partitions": Kind(_BOTH, _P, {"bucket": "2"}),
    "keyed-vectors": Kind(_ID, options=_VECTORS | {"bucket": "1"}),
    "keyed-vectors-partitions": Kind(_BOTH, _P, _VECTORS | {"bucket": "2"}),
    "keyed-lookup": Kind(_ID, options={"bucket": "1", "changelog-producer": "lookup"}),
    "keyed-full-compaction": Kind(
        _BOTH, _P, {"bucket": "1", "changelog-producer": "full-compaction"}
    ),
    "keyed-input": Kind(_ID, options={"bucket": "2", "changelog-producer": "input"}),
    "keyed-orc": Kind(_ID, options={"bucket": "2", "file.format": "orc"}),
    "keyed-avro": Kind(_BOTH, _P, {"bucket": "1", "file.format": "avro"}),
    "keyed-sequence": Kind(_ID, options={"bucket": "2", "sequence.field": "n"}, evolves=False),
    "keyed-sequence-vectors-partitions": Kind(
        _BOTH, _P, _VECTORS | {"bucket": "1", "sequence.field": "n"}, evolves=False
    ),
    "keyed-by-part": Kind(_BOTH, options={"bucket": "2", "bucket-key": "id"}),
    "dynamic": Kind(_ID),
    "dynamic-partitions": Kind(_BOTH, _P, {"dynamic-bucket.target-row-num": "5"}),
    "dynamic-vectors": Kind(_ID, options=_VECTORS),
    "across-partitions": Kind(_ID, _P, moves=True),
    "across-partitions-vectors": Kind(_ID, _P, _VECTORS, moves=True),
    "postponed": Kind(_ID, options={"bucket": "-2"}),
    "postponed-partitions": Kind(_BOTH, _P, {"bucket": "-2"}),
    "partial": Kind(_ID, options={"bucket": "2", "merge-engine": "partial-update"} | _REMOVING),
    "partial-dynamic-partitions": Kind(_BOTH, _P, {"merge-engine": "partial-update"} | _REMOVING),
    "partial-group": Kind(_ID, options=_GROUP | {"bucket": "2"}, deletes=False, evolves=False),
    "partial-group-dynamic-partitions": Kind(
        _BOTH, _P, _GROUP | {"changelog-producer": "lookup"}, deletes=False, evolves=False
    ),
    "sums": Kind(_ID, options=_SUMS | {"bucket": "2"}, deletes=False, updates=False, evolves=False),
    "first-row": Kind(
        _ID,
        options={"bucket": "2", "merge-engine": "first-row"},
        deletes=False,
        updates=False,
    ),
    "first-row-dynamic": Kind(
        _BOTH, _P, {"merge-engine": "first-row"}, deletes=False, updates=False
    ),
}
