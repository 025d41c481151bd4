"""One table in the hands of both: made, written and read by us or by Java."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.spec.row_kind import SYMBOLS
from paimonlab.spec.schema.change_kinds import SchemaChange
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.json import type_to_json
from paimonlab.spec.types.text import parse_type
from tests.interop.java_build import is_since_1_4
from tests.interop.oracle import JavaPaimon
from tests.java_values import java_rows, normal_rows, unordered
from tests.spec.random_columns import random_column

Side: TypeAlias = Literal["us", "java"]
SIDES: tuple[Side, Side] = ("us", "java")
KIND = "row kind"


class Pair:
    """The same warehouse, opened by both."""

    def __init__(self, catalog: paimonlab.Catalog, java: JavaPaimon) -> None:
        self.catalog = catalog
        self.java = java

    def create(
        self,
        side: Side,
        name: str,
        columns: Mapping[str, str],
        *,
        pk: Sequence[str] = (),
        partition: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Make a table."""
        options = dict(options or {})
        if side == "us":
            self.catalog.create_table(
                name, columns, primary_keys=pk, partition_keys=partition, options=options
            )
            return
        fields = [[column, type_to_json(parse_type(text))] for column, text in columns.items()]
        self.java(
            "create_table",
            table=name,
            fields=fields,
            pk=list(pk),
            partition=list(partition),
            options=options,
        )

    def open(self, name: str) -> paimonlab.Table:
        """Open a table on our side, at its latest schema."""
        table = self.catalog.table(name)
        assert isinstance(table, paimonlab.Table)
        return table

    def write(self, side: Side, name: str, rows: pa.Table) -> None:
        """Write rows in one commit; a column `KIND` has their kinds."""
        table = self.open(name)
        has_kinds = KIND in rows.column_names
        if side == "us":
            table.write(rows, row_kinds=KIND if has_kinds else None)
            return
        self.java("write", table=name, rows=with_kinds(rows, table.schema.fields))

    def alter(
        self,
        side: Side,
        name: str,
        ours: SchemaChange,
        javas: list[Any],
    ) -> None:
        """Change the schema, told in the words of either."""
        if side == "us":
            self.catalog.alter_table(name, ours)
        else:
            self.java("alter_table", table=name, changes=[javas])

    def our_rows(self, name: str, **how: Any) -> list[list[Any]]:
        """Read a table on our side, as Java would print it."""
        scan = self.open(name).scan(**how)
        return java_rows(scan.to_arrow(), [scan.schema.field(column) for column in scan.columns])

    def java_rows(self, name: str, **how: Any) -> list[list[Any]]:
        """Read a table on Java's side."""
        return normal_rows(self.java.rows(name, **how), self.open(name).schema.fields)

    def assert_same(self, name: str, expected: pa.Table | None = None) -> None:
        """Both read the same rows, and those expected."""
        ours, javas = unordered(self.our_rows(name)), unordered(self.java_rows(name))
        assert ours == javas, difference(ours, javas)
        if expected is not None:
            fields = self.open(name).schema.fields
            columns = expected.select([field.name for field in fields])
            wanted = unordered(java_rows(columns, fields))
            assert ours == wanted, difference(ours, wanted)


def skip_where_values_stay(pair: Pair, options: Mapping[str, str]) -> None:
    """Skip a test of rows that are removed or taken back if Java keeps values of them.

    Java does since 1.4; ``test_releases.py`` shows both answers.
    """
    keeps = any("remove-record" in key or "sequence-group" in key for key in options)
    if keeps and is_since_1_4(pair.java.release):
        pytest.skip("Java 1.4 keeps values of rows that are gone; see test_releases.py")


def difference(left: list[str], right: list[str]) -> str:
    """Say which rows only one of them has."""
    only_left, only_right = Counter(left) - Counter(right), Counter(right) - Counter(left)
    return f"only ours: {list(only_left)[:5]}, only the others: {list(only_right)[:5]}"


def with_kinds(rows: pa.Table, fields: Sequence[DataField]) -> list[list[Any]]:
    """Make the rows of a command, ``[kind, values]``."""
    kinds = rows.column(KIND).to_pylist() if KIND in rows.column_names else ["+I"] * len(rows)
    assert set(kinds) <= set(SYMBOLS)
    values = java_rows(rows.select([field.name for field in fields]), fields)
    return [[kind, row] for kind, row in zip(kinds, values, strict=True)]


def random_rows(columns: Mapping[str, str], rows: int, rng: np.random.Generator) -> pa.Table:
    """Return random rows of a table with these columns, nulls and extremes included."""
    types = [parse_type(text) for text in columns.values()]
    fields = [
        DataField(i, name, type_)
        for i, (name, type_) in enumerate(zip(columns, types, strict=True))
    ]
    return pa.table(
        [random_column(type_, rows, rng) for type_ in types], schema=arrow_schema(fields)
    )
