"""A filter taken apart by what each part can prune."""

from __future__ import annotations

import math
from itertools import product
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.predicates.predicate import (
    AlwaysTrue,
    Predicate,
    all_of,
    allowed_values,
    columns,
    evaluate,
    split_and,
)
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot
from paimonlab.spec.types.system_fields import ROW_ID

_MOST_BUCKET_KEYS = 10_000
"""Keys that are hashed to find their buckets; of more, all buckets are looked at."""


class Conditions(Struct, frozen=True):
    """Conditions on rows; a row must meet all of the parts."""

    whole: Predicate
    """Bound to the read schema."""
    partition: Predicate
    """The part over partition columns alone."""
    key: Predicate
    """The part over primary key columns alone, at least one of them no partition column."""
    row_id: Predicate
    """The part over ids of rows alone."""
    value: Predicate
    """The rest of the parts, and those over primary key columns."""
    is_impossible: bool
    """Whether a part is true for no row at all."""

    @classmethod
    def of(cls, predicate: Predicate | None, schema: TableSchema) -> Self:
        """Take a bound predicate apart."""
        whole = AlwaysTrue() if predicate is None else predicate
        constants = [part for part in split_and(whole) if not columns(part)]
        parts = [part for part in split_and(whole) if columns(part)]
        on_partition = [part for part in parts if columns(part) <= set(schema.partition_keys)]
        rest = [part for part in parts if part not in on_partition]
        on_row_id = [part for part in rest if columns(part) == {ROW_ID}]
        on_key = [part for part in rest if columns(part) <= set(schema.primary_keys)]
        return cls(
            whole=whole,
            partition=all_of(*on_partition),
            key=all_of(*on_key),
            row_id=all_of(*on_row_id),
            value=all_of(*rest),
            is_impossible=not all(map(_is_true, constants)),
        )

    @property
    def is_empty(self) -> bool:
        """Whether every row meets them."""
        return isinstance(self.whole, AlwaysTrue)

    def buckets(self, schema: TableSchema, total_buckets: int) -> npt.NDArray[np.int32] | None:
        """Return the buckets that rows can be in; None: all.

        Parameters
        ----------
        schema
            The read schema.
        total_buckets
            Buckets of the partition; below 1, rows are in no particular bucket.
        """
        keys = self._bucket_keys(schema) if total_buckets > 0 else None
        if keys is None:
            return None
        fields = [schema.field(name) for name in schema.bucket_keys]
        return distinct_integers(bucket_ids(keys, fields, total_buckets, schema.bucket_function))

    def _bucket_keys(self, schema: TableSchema) -> pa.Table | None:
        """Return all bucket keys that rows can have; None if there are too many."""
        fields = [schema.field(name) for name in schema.bucket_keys]
        if not fields or any(_is_floating(field) for field in fields):
            return None  # 0.0 equals -0.0, but they are in different buckets
        allowed = [allowed_values(self.whole, field.name) for field in fields]
        sets = [values for values in allowed if values is not None]
        if len(sets) < len(fields) or math.prod(map(len, sets)) > _MOST_BUCKET_KEYS:
            return None
        rows = list(product(*([literal.value for literal in values] for values in sets)))
        arrays = [
            arrow_array([row[position] for row in rows], to_arrow(field.type))
            for position, field in enumerate(fields)
        ]
        return pa.table(arrays, names=[field.name for field in fields])


def _is_true(constant: Predicate) -> bool:
    """Whether a predicate over no columns is true."""
    one_row = pa.record_batch([arrow_array([0])], names=["none"])
    return evaluate(constant, one_row)[0].as_py() is True


def _is_floating(field: DataField) -> bool:
    floating = (TypeRoot.FLOAT, TypeRoot.DOUBLE)
    return isinstance(field.type, AtomicType) and field.type.root in floating
