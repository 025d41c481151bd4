"""Changes between snapshots and tags of golden tables, as Java reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from paimonlab.errors import PaimonError
from paimonlab.table.reading.changes import Changes
from paimonlab.table.table import Table
from tests.golden import RELEASES
from tests.golden.expected import Case, Rows, cases, expected
from tests.golden.test_rows import open_table, shown
from tests.java_values import java_rows, normal_rows, unordered

NEW = ("+I", "+U")


def reads(case: Case) -> list[Mapping[str, Any]]:
    """Return the incremental reads that Java answers."""
    return [
        read
        for read in expected(case).reads()
        if any(key.startswith("incremental-") for key in read.get("options", {}))
    ]


WITH_CHANGES = [
    case
    for case in cases()
    if case.refusal is None and case.recorded_at is None and not case.unreadable and reads(case)
    if case.table != "cl_files"  # its changelog files are Avro
]


def kinds_and_values(rows: Any) -> list[tuple[str, Sequence[Any]]]:
    if isinstance(rows, Mapping):
        rows = rows["rows"]
    return [(row["k"], row["r"]) if isinstance(row, Mapping) else (row[0], row[1]) for row in rows]


def with_kinds(found: Changes) -> Rows:
    table = found.to_arrow()
    assert table.schema == found.arrow_schema
    kinds = table["rowkind"].to_pylist()
    fields = [found.schema.field(name) for name in found.columns]
    rows = shown(java_rows(table.drop_columns("rowkind"), fields))
    return [[kind, *row] for kind, row in zip(kinds, rows, strict=True)]


@pytest.mark.parametrize("case", WITH_CHANGES, ids=str)
def test_incremental_options_give_the_new_rows_that_java_reads(case: Case) -> None:
    _, table = open_table(case)

    for read in reads(case):
        new = [row for kind, row in kinds_and_values(read["rows"]) if kind in NEW]
        scan = table.scan(options=read["options"])
        found = shown(java_rows(scan.to_arrow(), scan.schema.fields))
        assert unordered(found) == unordered(shown(normal_rows(new, scan.schema.fields))), read
        assert scan.count() == len(new)


@pytest.mark.parametrize("case", WITH_CHANGES, ids=str)
def test_changes_have_the_kinds_that_java_reads(case: Case) -> None:
    _, table = open_table(case)

    for read in reads(case):
        options = read["options"]
        if "incremental-between" not in options:
            continue
        found = changes(table, options)
        rows = with_kinds(found)
        if found.range.kind.value == "diff":  # Java's plain reader drops deletes of these
            rows = [row for row in rows if row[0] in NEW]
        wanted = [
            [kind, *shown(normal_rows([row], found.schema.fields))[0]]
            for kind, row in kinds_and_values(read["rows"])
        ]
        assert unordered(rows) == unordered(wanted), read


def changes(table: Table, options: Mapping[str, str]) -> Changes:
    start, end = options["incremental-between"].split(",")
    mode: Any = options.get("incremental-between-scan-mode")
    if start.isdecimal():
        return table.changes(int(start), int(end), mode=mode)
    return table.changes(start, end, mode=mode)


def test_no_golden_difference_is_other_than_javas() -> None:
    """Java leaves files of both states out, we do not: none of its answers here shows that."""
    differences = [
        (str(case), options["incremental-between"])
        for case in WITH_CHANGES
        for read in reads(case)
        if "incremental-between" in (options := read["options"])
        and changes(open_table(case)[1], options).range.kind.value == "diff"
    ]

    assert differences == [
        (f"{writer}/incr", between)
        for writer in RELEASES
        for between in ("1,4", "2024-01-01,2024-01-02")
    ]


@pytest.mark.parametrize("writer", RELEASES)
def test_a_difference_tells_deleted_keys(writer: str) -> None:
    _, table = open_table(Case(writer, "incr"))

    found = with_kinds(table.changes("2024-01-01", "2024-01-02"))

    assert unordered(found) == unordered([["+I", 1, "a2"], ["-D", 2, "b"]])


@pytest.mark.parametrize(
    ("start", "end"), [(1, 99), (99, 100), (4, 2), ("no-such-tag", "2024-01-02")]
)
def test_a_range_that_is_not_there_is_an_error(start: int | str, end: int | str) -> None:
    _, table = open_table(Case("java-1.3.1", "incr"))

    with pytest.raises((PaimonError, ValueError)):
        table.changes(start, end)


@pytest.mark.parametrize("writer", RELEASES)
def test_changes_of_expired_snapshots_are_read_from_long_lived_changelogs(writer: str) -> None:
    answers, table = open_table(Case(writer, "cl_decoupled"))
    kept = [one["id"] for one in answers.document["changelogs"]]

    assert table.changelogs.ids() == kept
    assert kept[0] == 1
    assert table.snapshots.ids()[0] > kept[-1]
    found = with_kinds(table.changes(0, table.snapshots.ids()[-1]))
    wanted = [[kind, *row] for kind, row in kinds_and_values(answers.document["stream"]["rows"])]
    assert unordered(found) == unordered(wanted)


def stream(case: Case) -> Mapping[str, Any] | None:
    """Return what a stream from a snapshot on read, if that is known."""
    found = expected(case).document.get("stream")
    if not isinstance(found, Mapping):
        return None
    is_from_snapshot = found.get("options", {}).get("scan.mode") == "from-snapshot"
    return found if is_from_snapshot and "rows" in found else None


OTHERWISE = {
    *("dataevo", "evo_nested_avro", "evo_nested_orc", "evo_nested_parquet"),  # older columns
    *("dv64_pk", "idx_in_data_dir", "pk_dv", "postpone"),  # batch readers skip what is new
    "br_fallback",  # changes of two branches are refused
}
"""Tables of which a stream reads other rows than a batch reader of changes."""
STREAMED = [
    case
    for case in cases()
    if case.refusal is None and case.recorded_at is None and not case.unreadable and stream(case)
    if case.table not in OTHERWISE
]


@pytest.mark.parametrize("case", STREAMED, ids=str)
def test_all_changes_are_those_of_a_stream(case: Case) -> None:
    _, table = open_table(case)
    streamed = stream(case)
    assert streamed is not None

    first = int(streamed["options"]["scan.snapshot-id"])
    found = table.changes(first - 1, table.snapshots.ids()[-1])

    wanted = [
        [kind, *shown(normal_rows([row], found.schema.fields))[0]]
        for kind, row in kinds_and_values(streamed["rows"])
    ]
    assert unordered(with_kinds(found)) == unordered(wanted)
