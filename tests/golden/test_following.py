"""Golden tables followed: as Java's streams read them, and from any state to the latest."""

from __future__ import annotations

from typing import Any

import pytest

from paimonlab.errors import UnsupportedError
from paimonlab.table.table import Table
from tests.golden.expected import Case, Rows, cases
from tests.golden.test_changes import kinds_and_values, stream
from tests.golden.test_rows import open_table, shown
from tests.java_values import java_rows, normal_rows, unordered
from tests.table.following.followers import apply

_ANOTHER_SCHEMA = {"evo_nested_avro", "evo_nested_orc", "evo_nested_parquet"}
"""Tables of which Java's stream was recorded before the last change of the schema."""
FOLLOWED = [
    case
    for case in cases()
    if case.refusal is None and case.recorded_at is None and not case.unreadable and stream(case)
    if case.table not in _ANOTHER_SCHEMA
]
REFUSED = {
    *("agg_default", "agg_seq", "pk_agg", "pk_agg_nested", "pk_agg_sketch", "pk_partial"),
    *("pu_group_remove", "br_fallback", "dataevo", "postpone"),
}


def followed(case: Case, start: Any, **asked: Any) -> dict[int, Rows]:
    """Return rows with their kinds, as Java prints them, by snapshot."""
    _, table = open_table(case)
    found: dict[int, Rows] = {}
    for batch in table.follow(start, until="latest", **asked):
        kinds = batch.data["rowkind"].to_pylist()
        rows = shown(java_rows(batch.data.drop_columns("rowkind"), table.schema.fields))
        new = [[kind, *row] for kind, row in zip(kinds, rows, strict=True)]
        found.setdefault(batch.snapshot_id, []).extend(new)
    return found


@pytest.mark.parametrize("case", FOLLOWED, ids=str)
def test_changes_are_those_of_java(case: Case) -> None:
    _, table = open_table(case)
    streamed = stream(case)
    assert streamed is not None
    first = int(streamed["options"]["scan.snapshot-id"])
    if case.table in REFUSED:
        with pytest.raises(UnsupportedError):
            followed(case, first)
        return

    found = followed(case, first)

    wanted = [
        [kind, *shown(normal_rows([row], table.schema.fields))[0]]
        for kind, row in kinds_and_values(streamed["rows"])
    ]
    assert unordered([row for rows in found.values() for row in rows]) == unordered(wanted)


def is_replayable(case: Case) -> bool:
    """Whether the changes of a table make its rows: late rows lose, but were written."""
    if case.table in {*REFUSED, "rec_expire"}:  # rows expire without a change
        return False
    _, table = open_table(case)
    return bool(table.primary_keys) and "sequence.field" not in table.options


@pytest.mark.parametrize("case", [one for one in FOLLOWED if is_replayable(one)], ids=str)
def test_every_state_and_what_followed_make_the_latest(case: Case) -> None:
    answers, table = open_table(case)
    ids = table.snapshots.ids()

    first, middle, last = (
        replayed(table, snapshot_id) for snapshot_id in (ids[0], ids[len(ids) // 2], ids[-1])
    )

    assert first == last
    assert middle == last
    if not COMPACTED_ONLY & {*table.options.items()}:
        wanted = normal_rows(answers.latest, table.schema.fields)
        assert last == unordered(shown(wanted))


COMPACTED_ONLY = {
    ("changelog-producer", "lookup"),
    ("changelog-producer", "full-compaction"),
    ("deletion-vectors.enabled", "true"),
    ("merge-engine", "first-row"),
}
"""Options with which followers and batch readers differ in what is not compacted yet."""


def replayed(table: Table, snapshot_id: int) -> list[str]:
    """Return the rows of a snapshot, changed by all that came later."""
    options = {"scan.snapshot-id": str(snapshot_id)}
    if table.options.get("changelog-producer", "none") in ("none", "input"):
        options["streaming-read-overwrite"] = "true"
    places = [table.schema.field_names.index(name) for name in table.primary_keys]
    state: dict[Any, Any] = {}
    for batch in table.follow("from-snapshot-full", until="latest", options=options):
        kinds = batch.data["rowkind"].to_pylist()
        rows = shown(java_rows(batch.data.drop_columns("rowkind"), table.schema.fields))
        keyed = [
            (kind, *(str(row[place]) for place in places), row)
            for kind, row in zip(kinds, rows, strict=True)
        ]
        apply(state, keyed, len(places))
    return unordered([row for *_, row in state.values()])
