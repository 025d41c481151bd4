"""What landed since the rows of a commit were read, as values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.commit.read_set import (
    Landed,
    ReadSet,
    check_buckets_unwritten,
    check_keys_known,
    check_none_appended,
    check_partitions_unchanged,
    check_schema_unchanged,
)
from paimonlab.errors import FilesConflictError
from paimonlab.spec.snapshot import CommitKind
from tests.small_tables import drawn_entries, text_row

READ = ReadSet(snapshot_id=3, may_match=lambda entries: np.ones(entries.num_rows, np.bool_))
P = text_row("p")


def landed(drawing: str, kind: CommitKind = CommitKind.APPEND, *indexed: bytes) -> list[Landed]:
    return [Landed(4, "you", kind, drawn_entries(drawing), frozenset(indexed))]


def covers(partitions: pa.ChunkedArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([one == P for one in partitions.to_pylist()], np.bool_)


def test_rows_in_the_same_bucket_matter_and_compactions_do_not() -> None:
    ours = drawn_entries("+a:p")

    with pytest.raises(FilesConflictError, match="read at snapshot 3, and 'you' wrote into"):
        check_buckets_unwritten(landed("+b:p"), ours, READ, "db.t")
    check_buckets_unwritten(landed("+b:q"), ours, READ, "db.t")
    check_buckets_unwritten(landed("-c:p +b@5:p", CommitKind.COMPACT), ours, READ, "db.t")


def test_rows_that_may_match_matter_if_they_are_new() -> None:
    with pytest.raises(FilesConflictError, match="serializable"):
        check_none_appended(landed("+b"), READ, "db.t")
    check_none_appended(landed("-b", CommitKind.OVERWRITE), READ, "db.t")
    check_none_appended(landed("-c +b@5", CommitKind.COMPACT), READ, "db.t")


@pytest.mark.parametrize(
    ("drawing", "indexed"), [("+b:p", ()), ("-b:p", ()), ("", (P,))], ids=["new", "gone", "vector"]
)
def test_any_change_of_rows_that_are_replaced_matters(
    drawing: str, indexed: tuple[bytes, ...]
) -> None:
    with pytest.raises(FilesConflictError, match="changed rows that this overwrite replaces"):
        check_partitions_unchanged(
            landed(drawing, CommitKind.OVERWRITE, *indexed), covers, READ, "db.t"
        )


def test_changes_of_other_partitions_do_not_matter_to_what_is_replaced() -> None:
    check_partitions_unchanged(
        landed("+b:q", CommitKind.APPEND, text_row("q")), covers, READ, "db.t"
    )
    check_partitions_unchanged(landed("-b:p +c:p", CommitKind.COMPACT), covers, READ, "db.t")


def test_files_of_an_older_schema_replace_nothing() -> None:
    with pytest.raises(FilesConflictError, match="schema was changed to 1"):
        check_schema_unchanged(drawn_entries("+a"), 1, READ, "db.t", 4)
    check_schema_unchanged(drawn_entries("+a"), 0, READ, "db.t", 4)
    check_schema_unchanged(drawn_entries(""), 1, READ, "db.t", 4)


@pytest.mark.parametrize(
    ("drawing", "kind", "indexed", "user", "fits"),
    [
        ("-b:p", CommitKind.OVERWRITE, (), "me", False),
        ("", CommitKind.OVERWRITE, (P,), "me", False),
        ("-b:q", CommitKind.OVERWRITE, (text_row("q"),), "me", True),
        ("+b:p", CommitKind.OVERWRITE, (), "me", True),
        ("+b:p", CommitKind.APPEND, (P,), "me", True),
        ("-b:p +c@5:p", CommitKind.COMPACT, (), "me", True),
        ("-b:p", CommitKind.OVERWRITE, (P,), "you", True),
    ],
    ids=["files gone", "index gone", "elsewhere", "added", "keys added", "compacted", "own"],
)
def test_keys_stay_in_their_buckets_unless_others_overwrite(
    drawing: str, kind: CommitKind, indexed: tuple[bytes, ...], user: str, fits: bool
) -> None:
    def check() -> None:
        check_keys_known(landed(drawing, kind, *indexed), {P}, user=user, since=3, table="db.t")

    if fits:
        check()
        return
    with pytest.raises(FilesConflictError, match="looked up in snapshot 3"):
        check()
