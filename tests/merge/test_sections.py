from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.merge.sections import Section, sections
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.text import parse_type
from tests.support import cases

INT = parse_type("INT NOT NULL")


def _file(low: int, high: int, *, sequence: tuple[int, int], level: int = 0) -> DataFileMeta:
    min_key, max_key = encode([pa.array([low, high], pa.int32())], [INT]).to_pylist()
    return DataFileMeta(
        file_name="data.parquet",
        file_size_bytes=1,
        row_count=2,
        min_key=min_key,
        max_key=max_key,
        min_sequence_number=sequence[0],
        max_sequence_number=sequence[1],
        schema_id=0,
        level=level,
    )


def _drawn_file(drawing: str) -> DataFileMeta:
    """``L5:10-20@0-9``: level, keys, sequence numbers."""
    level, keys, sequence = drawing.replace("@", ":").split(":")
    low, high = map(int, keys.split(".."))
    first, last = map(int, sequence.split(".."))
    return _file(low, high, sequence=(first, last), level=int(level[1:]))


def _draw(found: list[Section]) -> str:
    return " ; ".join(
        " | ".join(" ".join("abcdefgh"[position] for position in run) for run in section.runs)
        + ("" if section.is_age_enough else " ?")
        for section in found
    )


@pytest.mark.parametrize(("title", "given", "expected"), cases("sections"))
def test_case_file(title: str, given: str, expected: str) -> None:
    files = [_drawn_file(drawing) for drawing in given.split()]

    assert _draw(sections(files, [INT])) == expected, title


def test_no_key_is_in_two_sections(rng: np.random.Generator) -> None:
    for _ in range(200):
        files = []
        for number in range(int(rng.integers(1, 12))):
            low = int(rng.integers(0, 100))
            high = low + int(rng.integers(0, 20))
            level = int(rng.integers(0, 3))
            files.append(_file(low, high, sequence=(number, number), level=level))
        low_of = [_bounds(file)[0] for file in files]
        high_of = [_bounds(file)[1] for file in files]

        found = sections(files, [INT])

        positions = [position for section in found for position in section.positions]
        assert sorted(positions) == list(range(len(files)))
        highest = -1
        for section in found:
            assert min(low_of[position] for position in section.positions) > highest
            highest = max(high_of[position] for position in section.positions)
            for run in section.runs:
                for left, right in pairwise(run):
                    assert high_of[left] < low_of[right]


def _bounds(file: DataFileMeta) -> tuple[int, int]:
    """Read the INT out of the rows: it stands behind arity and null bits."""
    low = int.from_bytes(file.min_key[12:16], "little", signed=True)
    return low, int.from_bytes(file.max_key[12:16], "little", signed=True)


def test_no_files_no_sections() -> None:
    assert sections([], [INT]) == []
