from __future__ import annotations

from paimonlab.compact.levels import highest_level, level_count, level_runs
from paimonlab.spec.manifests.data_file import DataFileMeta


def file(
    name: str, level: int, smallest: int, greatest: int, created: int | None = None
) -> DataFileMeta:
    return DataFileMeta(
        file_name=name,
        file_size_bytes=10,
        row_count=1,
        level=level,
        min_sequence_number=smallest,
        max_sequence_number=greatest,
        creation_time_millis=created,
        schema_id=0,
    )


def test_runs_come_newest_first_with_one_file_of_level_0_each() -> None:
    files = [
        file("c", 5, 0, 9),
        file("a", 0, 20, 29),
        file("d", 2, 10, 14),
        file("b", 0, 30, 39),
        file("e", 2, 15, 19),
    ]

    runs = level_runs(files)

    drawn = [(run.level, "".join(each.file_name for each in run.files)) for run in runs]
    assert drawn == [(0, "b"), (0, "a"), (2, "de"), (5, "c")]
    assert [run.total_size_bytes for run in runs] == [10, 10, 20, 10]


def test_ties_on_level_0_are_broken_by_smallest_sequence_number_time_and_name() -> None:
    files = [
        file("z", 0, 5, 9, 2),
        file("y", 0, 5, 9, 1),
        file("b", 0, 4, 9, 3),
        file("a", 0, 5, 9, 2),
    ]

    assert [run.files[0].file_name for run in level_runs(files)] == ["b", "y", "a", "z"]


def test_levels_are_counted_up_to_the_highest_file() -> None:
    assert level_count([], 6) == 6
    assert level_count([file("a", 7, 0, 0)], 6) == 8
    assert highest_level(level_runs([file("a", 0, 0, 0), file("b", 3, 0, 0)])) == 3
    assert highest_level(()) == -1
