"""Rows of golden tables: now, at every snapshot, at times, at tags, filtered, projected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.spec.predicates.predicate import Predicate, col
from paimonlab.table.reading.scan import Scan
from paimonlab.table.table import Table
from tests.golden.expected import (
    SCAN_OPTIONS,
    Case,
    Expected,
    Rows,
    cases,
    expected,
    stored_tables,
    values,
)
from tests.java_values import java_rows, normal_rows, unordered

ALL = cases()
READ = [case for case in ALL if case.refusal is None]
REFUSED = [case for case in ALL if case.refusal is not None]


def open_table(case: Case) -> tuple[Expected, Table]:
    answers = expected(case)
    table = answers.catalog().table(answers.document["table"])
    assert isinstance(table, Table)
    return answers, table


def assert_rows(scan: Scan, rows: Sequence[Sequence[Any]]) -> None:
    """Compare a read with rows that have all columns of its schema."""
    fields = [scan.schema.field(name) for name in scan.columns]
    places = [scan.schema.field_names.index(name) for name in scan.columns]
    wanted = [[row[place] for place in places] for row in rows]

    found = scan.to_arrow()

    assert found.schema == scan.arrow_schema
    hashed = hashed_places(scan)
    assert unordered(shown(java_rows(found, fields), hashed)) == unordered(
        shown(normal_rows(wanted, fields), hashed)
    )
    assert scan.count() == len(rows)


def hashed_places(scan: Scan) -> list[int]:
    """Find the columns whose elements Java gathers in a hash table: their order means nothing."""
    functions = ("nested_update", "collect")
    options = scan.definition.options
    return [
        place
        for place, name in enumerate(scan.columns)
        if options.get(f"fields.{name}.aggregate-function") in functions
    ]


def shown(rows: Rows, hashed: Sequence[int] = ()) -> Rows:
    """Take a ROW of nulls for a null: Java 0.9 does, from Parquet; sort hashed elements."""
    found = [[None if value == [None, None] else value for value in row] for row in rows]
    for row in found:
        for place in hashed:
            elements: Any = row[place]
            row[place] = None if elements is None else sorted(elements, key=str)
    return found


def readable(case: Case, table: Table) -> list[str] | None:
    """Return the columns to read; None: all."""
    if case.unreadable is None:
        return None
    return [name for name in table.schema.field_names if name != case.unreadable]


def test_every_stored_table_is_listed() -> None:
    listed = [str(case) for case in ALL]

    assert sorted(listed) == sorted(stored_tables())


@pytest.mark.parametrize("case", READ, ids=str)
def test_the_latest_rows_are_those_java_reads(case: Case) -> None:
    answers, table = open_table(case)

    assert_rows(table.scan(readable(case, table), snapshot=case.recorded_at), answers.latest)


@pytest.mark.parametrize("case", [case for case in READ if case.unreadable], ids=str)
def test_a_value_that_arrow_cannot_hold_is_refused_naming_the_column(case: Case) -> None:
    _, table = open_table(case)
    assert case.unreadable

    with pytest.raises(UnsupportedError, match=case.unreadable):
        table.scan([case.unreadable]).to_arrow()


@pytest.mark.parametrize("case", READ, ids=str)
def test_every_snapshot_is_read_by_its_id(case: Case) -> None:
    answers, table = open_table(case)

    for snapshot, rows in answers.snapshots.items():
        columns = readable(case, table)
        scan = table.scan(columns, snapshot=snapshot)
        assert_rows(scan, rows)
        # The same scan, said differently: what it reads was compared.
        assert table.scan(columns, version=snapshot).snapshot == scan.snapshot
        option = {"scan.snapshot-id": str(snapshot)}
        assert table.scan(columns, options=option).snapshot == scan.snapshot


@pytest.mark.parametrize("case", READ, ids=str)
def test_every_snapshot_is_read_by_its_time(case: Case) -> None:
    answers, table = open_table(case)
    if "scan.fallback-branch" in table.options:
        return  # the fallback branch is younger; Java reads it by snapshot id alone
    times = {id: one["timeMillis"] for id, one in answers.snapshot_documents().items()}

    for snapshot, rows in answers.snapshots.items():
        is_last_of_its_millisecond = times.get(snapshot + 1) != times[snapshot]
        if is_last_of_its_millisecond:
            scan = table.scan(readable(case, table), timestamp=times[snapshot])
            assert scan.snapshot is not None
            assert scan.snapshot.id == snapshot  # whose rows the test before compares
            assert scan.count() == len(rows)


@pytest.mark.parametrize("case", READ, ids=str)
def test_other_reads_give_the_same_rows_or_are_refused(case: Case) -> None:
    answers, table = open_table(case)

    for read in answers.reads():
        options: Mapping[str, str] = read.get("options", {})
        columns = read.get("projection")
        where = None if "filter" not in read else predicate(read["filter"])
        if any(key.startswith("incremental-") for key in options):
            continue  # test_changes.py
        if options.keys() <= SCAN_OPTIONS:
            assert_rows(table.scan(columns, where, options=options), values(read["rows"]))
        else:
            with pytest.raises(UnsupportedError):
                table.scan(columns, where, options=options).to_arrow()


@pytest.mark.parametrize("case", READ, ids=str)
def test_every_row_is_found_by_a_filter_on_its_values(case: Case) -> None:
    """Of each column the value of the first row or, of every other column, of the last."""
    _, table = open_table(case)
    columns = readable(case, table)
    rows = table.scan(columns).to_arrow()

    for number, field in enumerate(rows.schema):
        if (
            pa.types.is_nested(field.type)
            or rows.num_rows == 0
            or not is_of_python(rows, field.name)
        ):
            continue
        value = rows.column(field.name)[number % 2 * (rows.num_rows - 1)].as_py()
        where = col(field.name).is_null() if value is None else col(field.name) == value
        mask = [same(found, value) for found in rows.column(field.name).to_pylist()]
        found = table.scan(columns, where).to_arrow()
        fields = [table.schema.field(name) for name in rows.schema.names]
        assert unordered(java_rows(found, fields)) == unordered(
            java_rows(rows.filter(pa.array(mask)), fields)
        ), f"{field.name} = {value!r}"


def is_of_python(rows: pa.Table, column: str) -> bool:
    """Whether Python has all values of a column: its years begin with 1."""
    try:
        rows.column(column).to_pylist()
    except (OverflowError, ValueError):
        return False
    return True


def same(left: Any, right: Any) -> bool:
    """Compare as SQL in Spark does: NaN equals NaN."""
    return left == right or (left != left and right != right)  # noqa: PLR0124


def predicate(java: Sequence[Any]) -> Predicate:
    """Build the predicate that the oracle was given."""
    operator, name, *operands = java
    column = col(name)
    match operator:
        case "=":
            return column == operands[0]
        case ">":
            return column > operands[0]
        case "in":
            return column.is_in(operands[0])
        case "between":
            return column.between(*operands)
        case "is_null":
            return column.is_null()
    raise AssertionError(java)


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_is_not_built_yet_is_refused_by_name(case: Case) -> None:
    answers = expected(case)
    assert case.refusal

    with pytest.raises(PaimonError) as refused:
        answers.catalog().table(answers.document["table"]).scan().to_arrow()

    assert isinstance(refused.value, UnsupportedError)
    assert case.refusal in str(refused.value)
