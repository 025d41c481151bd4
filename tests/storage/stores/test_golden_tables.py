"""Golden tables in a bucket: each test that reads one from a folder reads it from there as well.

``make test`` takes some, ``make interop`` all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

from tests.golden import (
    golden,
    test_branches,
    test_changes,
    test_following,
    test_row_ids,
    test_rows,
    test_system_tables,
)
from tests.golden.expected import COPIES, Case, Expected, cases, expected
from tests.storage.stores.conftest import options_of
from tests.storage.stores.server import make_bucket

CHECKS: Sequence[tuple[Callable[[Case], None], Sequence[Case]]] = (
    (test_rows.test_the_latest_rows_are_those_java_reads, test_rows.READ),
    (
        test_rows.test_a_value_that_arrow_cannot_hold_is_refused_naming_the_column,
        [case for case in test_rows.READ if case.unreadable],
    ),
    (test_rows.test_every_snapshot_is_read_by_its_id, test_rows.READ),
    (test_rows.test_every_snapshot_is_read_by_its_time, test_rows.READ),
    (test_rows.test_other_reads_give_the_same_rows_or_are_refused, test_rows.READ),
    (test_rows.test_every_row_is_found_by_a_filter_on_its_values, test_rows.READ),
    (test_rows.test_what_is_not_built_yet_is_refused_by_name, test_rows.REFUSED),
    (
        test_changes.test_incremental_options_give_the_new_rows_that_java_reads,
        test_changes.WITH_CHANGES,
    ),
    (test_changes.test_changes_have_the_kinds_that_java_reads, test_changes.WITH_CHANGES),
    (test_changes.test_all_changes_are_those_of_a_stream, test_changes.STREAMED),
    (test_following.test_changes_are_those_of_java, test_following.FOLLOWED),
    (test_branches.test_branches_are_listed, test_branches.WITH_BRANCHES),
    (test_branches.test_branches_are_read_as_java_reads_them, test_branches.WITH_BRANCHES),
    (test_row_ids.test_each_row_is_found_by_its_id, test_row_ids.TRACKED),
    (test_system_tables.test_system_tables_have_the_rows_java_shows, test_system_tables.READ),
)
SAMPLE = {
    *("java-1.4.2/pk_dv", "java-1.3.1/branches", "java-1.4.2/part_ts", "java-0.9/dyn"),
    *("java-1.4.2/incr", "java-1.3.1/evo_orc"),
}
IS_WHOLE = os.environ.get("PAIMONLAB_INTEROP") == "require"
CHOSEN = [case for case in cases() if IS_WHOLE or str(case) in SAMPLE]
_BYTES = {"Content-Type": "application/octet-stream"}

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def golden_bucket(s3_server: str) -> Iterator[str]:
    """Name of a bucket that golden tables are copied to, and read from."""
    name = "golden"
    make_bucket(s3_server, name)
    yield name
    COPIES.clear()


@pytest.fixture
def case(request: pytest.FixtureRequest, s3_server: str, golden_bucket: str) -> Case:
    """A table that is in the bucket."""
    chosen: Case = request.param
    copy(expected(chosen), s3_server, f"{golden_bucket}/{chosen.writer}")
    COPIES[golden(chosen.writer) / "wh"] = {
        **options_of(s3_server, golden_bucket),
        "warehouse": f"s3://{golden_bucket}/{chosen.writer}",
    }
    return chosen


def copy(answers: Expected, server: str, target: str) -> None:
    """Copy the files of a table, one request each."""
    for path in sorted(answers.path.rglob("*")):
        if path.is_file():
            key = quote(f"{target}/{path.relative_to(answers.warehouse)}")
            put = Request(f"{server}/{key}", path.read_bytes(), _BYTES, method="PUT")
            with urlopen(put, timeout=60) as answer:
                assert answer.status == 200


def test_the_sample_is_of_golden_tables() -> None:
    assert {str(case) for case in cases()} >= SAMPLE


@pytest.mark.parametrize("case", CHOSEN, ids=str, indirect=True)
def test_a_golden_table_in_a_bucket_is_what_java_reads(case: Case) -> None:
    assert expected(case).options["warehouse"].startswith("s3://")
    ours = [check for check, those in CHECKS if case in those]
    for check in ours:
        check(case)
    assert ours
