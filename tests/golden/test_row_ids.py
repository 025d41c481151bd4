"""Rows that Java gave ids are found by them, whatever chooses the files that are read."""

from __future__ import annotations

import pytest

from tests.golden.expected import Case, cases, expected

TRACKED = [
    case for case in cases() if case.table in ("rowtrack", "dataevo") and case.refusal is None
]


@pytest.mark.parametrize("case", TRACKED, ids=str)
def test_each_row_is_found_by_its_id(case: Case) -> None:
    answers = expected(case)
    table = answers.catalog().table(answers.document["table"])
    columns = ["_ROW_ID", *table.schema.field_names]
    rows = table.scan(columns).to_arrow().to_pylist()
    ids = [row["_ROW_ID"] for row in rows]

    assert len(set(ids)) == len(ids) > 0
    for row in rows:
        assert table.scan(columns, f"_ROW_ID = {row['_ROW_ID']}").to_arrow().to_pylist() == [row]
    middle = sorted(ids)[len(ids) // 2]
    assert table.scan(where=f"_ROW_ID < {middle}").count() == sum(one < middle for one in ids)
    assert table.scan(where=f"_ROW_ID > {max(ids)}").plan().files.num_rows == 0
