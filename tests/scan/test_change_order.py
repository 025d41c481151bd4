"""Changes of keys that leave a bucket come before those of keys that are in one."""

from __future__ import annotations

from typing import Any

from paimonlab.scan.change_splits import ChangeSplit, Fate
from paimonlab.scan.changed_files import deletes_first
from tests.small_tables import data_file


class Side:
    """The files of a bucket, never to be compared: with many buckets that is what takes time."""

    def __init__(self, name: str, delete_row_count: int | None) -> None:
        self.files = (data_file(name, delete_row_count=delete_row_count),)

    def __eq__(self, other: object) -> bool:
        raise AssertionError("splits were compared")

    __hash__ = None  # type: ignore[assignment]


def split(name: str, delete_row_count: int | None) -> ChangeSplit:
    side: Any = Side(name, delete_row_count)
    return ChangeSplit(after=side)


def test_deletes_come_first_and_no_split_is_compared_with_another() -> None:
    found = deletes_first(
        [split("new", 0), split("gone", 10), split("some", 3), split("old", None)]
    )

    assert [(one.sides[0].files[0].file_name, one.fate) for one in found] == [
        ("gone", Fate.GONE),
        ("some", Fate.GONE),
        ("old", Fate.GONE),
        ("new", Fate.ANY),
        ("some", Fate.PRESENT),
        ("old", Fate.PRESENT),
    ]
