"""System tables of golden tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from paimonlab.catalog import Catalog
from paimonlab.errors import SchemaError
from paimonlab.spec.types.arrow import from_arrow, to_arrow
from paimonlab.spec.types.data_types import ArrayType, DataField
from paimonlab.table.system import SYSTEM_TABLES, SystemTable
from tests.golden import RELEASES
from tests.golden.expected import Case, Expected, cases, expected, values
from tests.java_values import java_rows, normal_rows, unordered
from tests.support import partition_by_name

READ = [case for case in cases() if case.refusal is None and case.writer in RELEASES]
OF_A_SNAPSHOT = {
    *("files", "manifests", "partitions", "buckets", "table_indexes", "statistics"),
    *("ro", "row_tracking", "audit_log", "binlog"),
}
ONLY_LATER = {"file_key_ranges", "file_indexes"}
"""System tables that Java 1.4.2 does not have either."""
SINCE_1_4 = {
    "snapshots": {"next_row_id"},
    "files": {"first_row_id", "write_cols"},
    "manifests": {"min_row_id", "max_row_id"},
    "partitions": {"created_at", "created_by", "updated_by", "options"},
}
"""Columns that Java 1.3.1 does not have."""
SINCE_2 = {
    "snapshots": {"operation", "writer_version"},
    "partitions": {"total_buckets", "done", "deleted_record_count"},
    "table_indexes": {"row_range_start", "row_range_end", "index_field_id", "index_field_name"},
}
"""Columns that Java 1.4.2 does not have either."""
FAILS_IN_JAVA = {("java-1.4.2", "dataevo", "files"), ("java-1.4.2", "part_ts", "partitions")}
"""Reads at which Java breaks down."""
MOVING = {("branches", "create_time")}
"""Columns that unpacking the archives changes."""
DIFFERENT = {
    **{
        (name, "files"): "a minimum of the year 1600 does not fit Arrow's nanoseconds"
        for name in ("types_orc", "types_pk_orc")
    },
    ("evo_append", "files"): "statistics of a column that became text are cast by Java",
    ("dataevo", "files"): "Java takes statistics of some columns for those of the first ones",
    ("pk_dv", "buckets"): "Java counts the time of files that compaction deleted",
    ("pk_dv", "partitions"): "Java counts the time of files that compaction deleted",
}
DIFFERENT_IN = {
    "java-1.4.2": {
        ("pu_group_remove", name): "Java 1.4 keeps the values of a row that was removed"
        for name in ("audit_log", "binlog")
    }
}
"""Differences from one release alone."""


NOT_ASKED = {("lsm", "audit_log"), ("lsm", "binlog"), ("lsm", "ro")}
"""Java was not asked: they are large."""


@pytest.mark.parametrize("case", READ, ids=str)
def test_system_tables_have_the_rows_java_shows(case: Case) -> None:
    answers = expected(case)
    catalog = answers.catalog()
    for name in SYSTEM_TABLES:
        if name not in ONLY_LATER and (case.table, name) not in NOT_ASKED:
            assert_rows_of_java(case, name, answers, catalog)


def assert_rows_of_java(case: Case, name: str, answers: Expected, catalog: Catalog) -> None:
    """Compare a system table with what Java shows."""
    wanted = answers.system_tables()[name]
    if (case.writer, case.table, name) in FAILS_IN_JAVA:
        assert "rows" not in wanted, name
        found_here = system_table(answers, name, catalog).scan().count()
        assert found_here == len(live(answers, name)), name
        return
    if "rows" not in wanted:
        with pytest.raises(SchemaError):
            system_table(answers, name, catalog)
        return
    columns = [one for one in wanted["fields"] if one != case.unreadable]
    compared = [one for one in columns if (name, one) not in MOVING]
    table = system_table(answers, name, catalog)

    found = then(case, name, table, compared)

    places = [wanted["fields"].index(one) for one in compared]
    theirs = [[row[place] for place in places] for row in values(wanted["rows"])]
    later = SINCE_2.get(name, set()) | (
        SINCE_1_4.get(name, set()) if case.writer == "java-1.3.1" else set()
    )
    own = [one for one in table.arrow_schema.names if one not in later]
    assert own == wanted["fields"], name
    fields = fields_of(table, found.schema)
    ours = [
        [moved(value, answers.options["warehouse"]) for value in row]
        for row in java_rows(found, fields)
    ]
    if (case.writer, name) == ("java-1.3.1", "partitions"):
        theirs = [[partition_by_name(row[0], table.table), *row[1:]] for row in theirs]
    is_same = unordered(map(plain, ours)) == unordered(map(plain, normal_rows(theirs, fields)))
    known = DIFFERENT | DIFFERENT_IN.get(case.writer, {})
    assert is_same != ((case.table, name) in known), name


def live(answers: Expected, name: str) -> set[str]:
    """Return the data files, or the partitions that they are of, as Java lists them."""
    listed = answers.document["files"]
    return {one["file"]["name"] if name == "files" else str(one["partition"]) for one in listed}


def fields_of(table: SystemTable, columns: pa.Schema) -> list[DataField]:
    """Describe columns: those of the table by its own types."""
    own = {field.name: field for field in table.table.schema.fields}
    if not own.keys() <= set(table.arrow_schema.names):
        own = {}
    return [
        own_field(own[column.name], column)
        if column.name in own
        else DataField(position, column.name, from_arrow(column.type))
        for position, column in enumerate(columns)
    ]


def own_field(field: DataField, column: pa.Field) -> DataField:
    """Return the column of a table, or a list of its values."""
    if column.type == to_arrow(field.type):
        return field
    return replace(field, type=ArrayType(field.type))


def system_table(answers: Expected, name: str, catalog: Catalog | None = None) -> SystemTable:
    catalog = catalog or answers.catalog()
    return catalog.system_table(f"{answers.document['table']}${name}")


def test_every_system_table_of_java_is_there() -> None:
    for writer in RELEASES:
        answers = [expected(case) for case in READ if case.writer == writer]
        asked = {name for one in answers for name in one.system_tables()}
        assert asked == set(SYSTEM_TABLES) - ONLY_LATER


def then(case: Case, name: str, table: SystemTable, columns: Sequence[str]) -> pa.Table:
    """Read as it was when the answers were recorded."""
    if name in OF_A_SNAPSHOT:
        return table.scan(columns, snapshot=case.recorded_at).to_arrow()
    if name == "snapshots" and case.recorded_at is not None:
        return table.scan(columns, where=f"snapshot_id <= {case.recorded_at}").to_arrow()
    return table.scan(columns).to_arrow()


def moved(value: Any, warehouse: str) -> Any:
    return value.replace(warehouse, "$WH") if isinstance(value, str) else value


def plain(row: list[Any]) -> list[Any]:
    """Sort the keys in JSON texts, and cut times to milliseconds, as their type says."""
    return [_plain(value) for value in row]


def _plain(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.startswith(('{"', '["', "[{", "[]")):
        return json.dumps(json.loads(value), sort_keys=True)
    date_time, _, fraction = value.partition(".")
    is_time = len(date_time) == len("2026-11-21T07:25:03") and date_time[10] == "T"
    return f"{date_time}.{fraction[:3]}" if is_time and fraction else value


@pytest.mark.parametrize(("name", "storage"), [("findex", "FILE"), ("findex_embedded", "EMBEDDED")])
@pytest.mark.parametrize("writer", RELEASES)
def test_the_indexes_java_wrote_are_listed(writer: str, name: str, storage: str) -> None:
    found = system_table(expected(Case(writer, name)), "file_indexes").scan().to_arrow()

    listed = found.select(["column_name", "index_type"]).to_pylist()
    indexes = {("a", "bloom-filter"), ("b", "bitmap")}
    assert {tuple(row.values()) for row in listed} == indexes
    assert set(found["storage_type"].to_pylist()) == {storage}
    assert found["index_file_path"].null_count == (0 if storage == "FILE" else len(found))
    for row in found.to_pylist():
        assert 0 < row["index_size_in_bytes"] < row["index_container_size_in_bytes"]
        assert row["is_empty"] is False
