"""System tables of golden tables."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.spec.arrow_types import from_arrow
from paimonlab.spec.types import DataField
from paimonlab.table.system import SYSTEM_TABLES, SystemTable
from tests.golden.expected import Case, cases, expected, values
from tests.java_values import java_rows, unordered

READ = [case for case in cases() if case.refusal is None and case.writer == "java-1.3.1"]
OF_A_SNAPSHOT = {"files", "manifests", "partitions", "buckets"}
DIFFERENT = {
    ("evo_append", "files"): "statistics of a column that became text are cast by Java",
    ("dataevo", "files"): "Java takes statistics of some columns for those of the first ones",
    ("pk_dv", "buckets"): "Java counts the time of files that compaction deleted",
    ("pk_dv", "partitions"): "Java counts the time of files that compaction deleted",
}


@pytest.mark.parametrize("name", SYSTEM_TABLES)
@pytest.mark.parametrize("case", READ, ids=str)
def test_a_system_table_has_the_rows_java_shows(case: Case, name: str) -> None:
    answers = expected(case)
    wanted = answers.system_tables()[name]
    table = paimonlab.connect(answers.warehouse).table(f"{answers.document['table']}${name}")
    assert isinstance(table, SystemTable)

    found = then(case, name, table)

    assert found.schema.names == wanted["fields"]
    fields = [DataField(i, f.name, from_arrow(f.type)) for i, f in enumerate(found.schema)]
    ours = [
        [moved(value, str(answers.warehouse)) for value in row] for row in java_rows(found, fields)
    ]
    is_same = unordered(map(plain, ours)) == unordered(map(plain, values(wanted["rows"])))
    assert is_same != ((case.table, name) in DIFFERENT)


def then(case: Case, name: str, table: SystemTable) -> pa.Table:
    """Read as it was when the answers were recorded."""
    if name in OF_A_SNAPSHOT:
        return table.scan(snapshot=case.recorded_at).to_arrow()
    if name == "snapshots" and case.recorded_at is not None:
        return table.scan(where=f"snapshot_id <= {case.recorded_at}").to_arrow()
    return table.scan().to_arrow()


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
