"""Branches of golden tables, as Java reads them."""

from __future__ import annotations

import json

import pytest

from paimonlab.errors import BranchNotFoundError
from paimonlab.table.table import Table
from tests.golden import RELEASES
from tests.golden.expected import Case, cases, expected, values
from tests.golden.test_rows import assert_rows, open_table

WITH_BRANCHES = [
    case for case in cases() if case.writer in RELEASES and expected(case).document.get("branches")
]


def test_there_are_tables_with_branches() -> None:
    assert len(WITH_BRANCHES) == 3 * len(RELEASES)


def test_a_branch_of_paimon_0_9_is_read() -> None:
    answers, table = open_table(Case("java-0.9", "branches"))

    assert table.branches.list() == ["b0", "b1"]
    assert_rows(table.on_branch("b1").scan(), values(answers.document["branch_b1"]))
    assert_rows(table.on_branch("b0").scan(), [])


@pytest.mark.parametrize("case", WITH_BRANCHES, ids=str)
def test_branches_are_listed(case: Case) -> None:
    answers, table = open_table(case)

    assert table.branches.list() == sorted(answers.document["branches"])


@pytest.mark.parametrize("case", WITH_BRANCHES, ids=str)
def test_branches_are_read_as_java_reads_them(case: Case) -> None:
    answers, table = open_table(case)
    catalog = answers.catalog()
    reads = [read for read in answers.document["reads"] if "branch" in read]

    assert reads
    for read in reads:
        branch = catalog.table(f"{table.name}$branch_{read['branch']}")
        assert isinstance(branch, Table)
        assert_rows(branch.scan(), values(read["rows"]))
        assert_rows(table.on_branch(read["branch"]).scan(), values(read["rows"]))
        assert_rows(table.scan(options={"branch": read["branch"]}), values(read["rows"]))


def test_system_tables_of_a_branch_are_its_own() -> None:
    answers, table = open_table(Case("java-1.3.1", "branches"))
    catalog = answers.catalog()

    rows = catalog.system_table(f"{table.name}$branch_b1$snapshots").scan().to_arrow().to_pylist()
    files = sorted((answers.path / "branch" / "branch-b1" / "snapshot").glob("snapshot-*"))

    assert [row["snapshot_id"] for row in rows] == [
        json.loads(file.read_bytes())["id"] for file in files
    ]


def test_a_branch_that_is_not_there_is_an_error() -> None:
    answers, table = open_table(Case("java-1.3.1", "branches"))

    with pytest.raises(BranchNotFoundError, match="b1"):
        answers.catalog().table(f"{table.name}$branch_b")


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("dt = 'd1'", [["d1", 1, "main"]]),
        ("v = 'branch'", [["d2", 1, "branch"]]),
        ("dt = 'd1' AND v = 'branch'", []),
        ("k = 2", []),
        ("dt > 'd1' AND k = 1", [["d2", 1, "branch"]]),
    ],
)
def test_a_fallback_branch_has_only_partitions_that_are_missing(
    where: str, rows: list[list[object]]
) -> None:
    _, table = open_table(Case("java-1.3.1", "br_fallback"))

    assert_rows(table.scan(where=where), rows)
    assert table.scan(limit=1).to_arrow().num_rows == 1
