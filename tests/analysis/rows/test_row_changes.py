"""The difference of two states, computed, leads from one to the other."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from paimonlab.analysis.rows.row_changes import compared
from tests.golden.expected import Case
from tests.golden.test_rows import READ, hashed_places, open_table, shown
from tests.java_values import java_rows, normal_rows, unordered


def side(rows: pa.Table, name: str) -> pa.Table:
    """Return the rows that a side of the changes has."""
    struct = rows[name].combine_chunks()
    struct = struct.filter(struct.is_valid())
    return pa.Table.from_arrays(struct.flatten(), names=[field.name for field in struct.type])


def keyed_tables() -> list[Case]:
    kept = []
    for case in READ:
        if case.unreadable or case.writer != "java-1.3.1":
            continue
        answers, table = open_table(case)
        recorded = answers.snapshots
        is_small = sum(map(len, recorded.values())) < 5_000
        if table.primary_keys and len(recorded) > 1 and len(table.schemas.list()) == 1 and is_small:
            kept.append(case)
    return kept


@pytest.mark.parametrize("case", keyed_tables(), ids=str)
def test_computed_changes_lead_from_one_recorded_state_to_another(case: Case) -> None:
    answers, table = open_table(case)
    states = answers.snapshots
    ids = sorted(set(states) & set(table.snapshots.ids()))
    fields = table.schema.fields
    hashed = hashed_places(table.scan())
    for start, end in {(ids[0], ids[-1]), tuple(ids[-2:])} if len(ids) > 1 else ():
        view = compared(table, {"snapshot": start}, {"snapshot": end}).rows

        before = Counter(unordered(shown(normal_rows(states[start], fields), hashed)))
        after = Counter(unordered(shown(normal_rows(states[end], fields), hashed)))
        gone = Counter(unordered(shown(java_rows(side(view, "before"), fields), hashed)))
        new = Counter(unordered(shown(java_rows(side(view, "after"), fields), hashed)))
        assert not gone - before, (start, end)
        assert before - gone + new == after, (start, end)
        assert not gone & new, "an update changes something"
