"""The manifests of a snapshot beside what Java says."""

from __future__ import annotations

import pytest

import paimonlab
from paimonlab.analysis.manifests.manifest_nodes import EntryNode, ManifestTree, shares
from paimonlab.analysis.manifests.reading_manifests import manifest_tree_of
from paimonlab.table.table import Table
from tests.golden.expected import Case, Expected, expected, values
from tests.support import partition_by_name

GOLDEN = ("append_dv", "cl_lookup", "expired", "lookup_dv", "lsm", "mani_orc", "part_date")


def answers(name: str) -> Expected:
    return expected(Case("java-1.3.1", name))


def golden_table(name: str) -> Table:
    found = answers(name)
    table = paimonlab.connect(found.warehouse).table(found.document["table"])
    assert isinstance(table, Table)
    return table


def entries_of(tree: ManifestTree, *roles: str) -> list[EntryNode]:
    return [
        entry
        for one in tree.lists
        if one.role in roles
        for manifest in one.manifests
        for entry in manifest.entries
    ]


@pytest.mark.parametrize("name", GOLDEN)
def test_manifests_are_those_that_java_shows(name: str) -> None:
    wanted = answers(name).system_tables()["manifests"]
    table = golden_table(name)
    tree = manifest_tree_of(table)

    rows = [
        [
            one.name,
            one.bytes,
            one.added.files,
            one.deleted.files,
            one.schema_id,
            one.min_partition,
            one.max_partition,
        ]
        for listed in tree.lists
        for one in listed.manifests
    ]

    theirs = [row[:7] for row in values(wanted["rows"])]
    assert rows == [
        [*row[:5], *(partition_by_name(text, table) for text in row[5:7])] for row in theirs
    ]
    assert wanted["fields"][:3] == ["file_name", "file_size", "num_added_files"]


@pytest.mark.parametrize("name", GOLDEN)
def test_entries_of_base_and_delta_leave_the_files_that_java_shows(name: str) -> None:
    wanted = answers(name).system_tables()["files"]
    places = [
        wanted["fields"].index(column)
        for column in ("bucket", "level", "record_count", "file_size_in_bytes", "min_key")
    ]
    tree = manifest_tree_of(golden_table(name), entries=10_000)

    alive = {}
    for entry in entries_of(tree, "base", "delta"):
        key = (entry.file, entry.level)
        if entry.change == "ADD":
            alive[key] = [entry.bucket, entry.level, entry.rows, entry.bytes, entry.min_key]
        else:
            del alive[key]

    assert sorted(alive.values(), key=str) == sorted(
        ([row[place] for place in places] for row in values(wanted["rows"])), key=str
    )
    assert tree.shown_count == tree.entry_count


@pytest.mark.parametrize("name", GOLDEN)
def test_sums_are_those_of_the_snapshot(name: str) -> None:
    table = golden_table(name)

    for snapshot in table.snapshots.list():
        tree = manifest_tree_of(table, snapshot=snapshot.id, entries=0)
        sums = {one.role: one.added.rows - one.deleted.rows for one in tree.lists}
        assert sums["base"] + sums["delta"] == snapshot.total_record_count
        assert sums["delta"] == snapshot.delta_record_count
        assert sums.get("changelog", 0) == (snapshot.changelog_record_count or 0)
        assert tree.shown_count == 0


def test_deletion_vectors_are_those_of_the_table() -> None:
    table = golden_table("append_dv")
    wanted = answers("append_dv").system_tables()["table_indexes"]

    index = manifest_tree_of(table).index

    assert index is not None
    assert index.file_count == len(wanted["rows"])
    assert index.deleted_rows == 4
    assert [file.name for file in index.files] == [
        row[wanted["fields"].index("file_name")] for row in values(wanted["rows"])
    ]
    assert [(one.deleted_rows, one.bytes) for one in index.files[0].vectors] == [(4, 28)]


@pytest.mark.parametrize(
    ("counts", "most", "wanted"),
    [
        ([], 10, []),
        ([3, 4], 10, [3, 4]),
        ([2, 50, 7, 90], 20, [2, 6, 6, 6]),
        ([5, 5, 5], 1, [0, 0, 1]),
        ([1000], 0, [0]),
    ],
)
def test_places_are_divided(counts: list[int], most: int, wanted: list[int]) -> None:
    assert shares(counts, most) == wanted
