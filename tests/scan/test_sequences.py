from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from paimonlab.formats.manifests.entry_rows import entries_to_table
from paimonlab.scan import sequences
from paimonlab.scan.sequences import restore_sequence_numbers, with_changes
from paimonlab.spec.manifests.manifest import FileKind
from tests.small_tables import SmallTable, entry, text_row


def test_an_empty_table_has_no_numbers(tmp_path: Path) -> None:
    table = SmallTable(tmp_path).create()

    restored = restore_sequence_numbers(None, table.manifests)

    assert restored.num_rows == 0
    assert restored.column_names == ["partition", "bucket", "total_buckets", "max_sequence_number"]


def test_every_bucket_has_the_number_of_its_newest_file(tmp_path: Path) -> None:
    table = SmallTable(tmp_path, columns={"dt": "STRING"}, partition_keys=["dt"]).create()
    for name, day, bucket, sequence in [
        ("a", "x", 0, 5),
        ("b", "x", 1, 7),
        ("c", "y", 1, 1),
        ("d", "x", 0, 3),
    ]:
        table.append(
            name,
            partition=text_row(day),
            bucket=bucket,
            total_buckets=2,
            max_sequence_number=sequence,
        )

    restored = restore_sequence_numbers(table.snapshots.latest(), table.manifests)

    assert restored.schema == restore_sequence_numbers(None, table.manifests).schema
    found = {(row["partition"], row["bucket"]): row for row in restored.to_pylist()}
    assert {key: row["max_sequence_number"] for key, row in found.items()} == {
        (text_row("x"), 0): 5,
        (text_row("x"), 1): 7,
        (text_row("y"), 1): 1,
    }
    assert {row["total_buckets"] for row in found.values()} == {2}


def test_deleted_files_do_not_count(tmp_path: Path) -> None:
    """Numbers start again in a bucket that was emptied, as in Java."""
    from paimonlab.commit.scope import OverwriteScope  # noqa: PLC0415

    table = SmallTable(tmp_path).create()
    table.append("a", total_buckets=1, max_sequence_number=99)
    table.committer.overwrite([], scope=OverwriteScope.whole_table(), user="u", identifier=1)

    assert restore_sequence_numbers(table.snapshots.latest(), table.manifests).num_rows == 0


def test_numbers_that_are_followed_are_those_of_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Few rows are followed value by value, many column by column."""
    random = Random(seed)
    known = restore_sequence_numbers(None, SmallTable(tmp_path).create().manifests)
    greatest: dict[tuple[bytes, int, int], int] = {}
    for _ in range(20):
        entries = [
            entry(
                "f",
                random.choice([FileKind.ADD, FileKind.DELETE]),
                partition=text_row(random.choice("abc")),
                bucket=random.randrange(3),
                total_buckets=3,
                max_sequence_number=random.randrange(100),
            )
            for _ in range(random.randrange(5))
        ]
        changes = [entries_to_table(entries[:2]), entries_to_table(entries[2:])]
        for one in entries:
            if one.kind is FileKind.ADD:
                slot = one.partition, one.bucket, one.total_buckets
                number = one.file.max_sequence_number
                greatest[slot] = max(number, greatest.get(slot, number))

        with monkeypatch.context() as patched:
            patched.setattr(sequences, "_FEW_ROWS", -1)
            by_column = with_changes(known, changes)
        known = with_changes(known, changes)

        assert known.equals(by_column)
        rows = [tuple(row.values()) for row in known.to_pylist()]
        assert {row[:3]: row[3] for row in rows} == greatest
