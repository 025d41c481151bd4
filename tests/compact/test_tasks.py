from __future__ import annotations

import re

import pyarrow as pa
import pytest

from paimonlab.compact.tasks import Rewrite, Step, TaskOptions, Upgrade, drops_deletes, steps
from paimonlab.compact.units import CompactUnit
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.types.text import parse_type
from tests.compact.bucket_drawings import drawn_runs
from tests.support import cases

INT = parse_type("INT NOT NULL")
MAX_LEVEL = 5
OPTIONS = Options({"target-file-size": "100 mb"}).slice(TaskOptions)


def drawn_unit(drawing: str, *, is_file_by_file: bool = False) -> CompactUnit:
    files, level = drawing.split("->")
    found = re.findall(r"(\d):(\d+)\.\.(\d+)=(\d+)(-?)", files)
    return CompactUnit(
        int(level),
        tuple(
            drawn_file(name, list(map(int, numbers)), has_deletes=bool(deletes))
            for name, (*numbers, deletes) in zip("abcdefgh", found, strict=False)
        ),
        is_file_by_file,
    )


def drawn_file(name: str, numbers: list[int], *, has_deletes: bool) -> DataFileMeta:
    level, low, high, size = numbers
    min_key, max_key = encode([pa.array([low, high], pa.int32())], [INT]).to_pylist()
    return DataFileMeta(
        file_name=name,
        file_size_bytes=size << 20,
        row_count=2,
        min_key=min_key,
        max_key=max_key,
        min_sequence_number=0,
        max_sequence_number=9,
        schema_id=0,
        level=level,
        delete_row_count=None if has_deletes else 0,
    )


def draw(step: Step) -> str:
    if isinstance(step, Upgrade):
        return f"{step.file.file_name}>{step.output_level}"
    sections = (" ".join(sorted(each.file_name for each in one)) for one in step.sections)
    return f"[{' ; '.join(sections)}]"


def draw_steps(unit: CompactUnit, options: TaskOptions = OPTIONS, expired: str = "") -> str:
    found = steps(
        unit,
        [INT],
        options,
        max_level=MAX_LEVEL,
        drop_deletes=True,
        expired=expired.split(),
    )
    return " ".join(map(draw, found))


@pytest.mark.parametrize(("title", "given", "expected"), cases("compact_tasks"))
def test_case_file(title: str, given: str, expected: str) -> None:
    assert draw_steps(drawn_unit(given)) == expected, title


def test_files_with_expired_rows_are_rewritten() -> None:
    unit = drawn_unit("5:1..9=80  4:10..19=80  -> 5")

    assert draw_steps(unit, expired="a b") == "[a] [b]"


def test_all_files_are_rewritten_if_that_is_wanted() -> None:
    unit = drawn_unit("5:1..9=80  4:10..19=80  -> 5")
    text = {"target-file-size": "100 mb", "compaction.force-rewrite-all-files": "true"}

    assert draw_steps(unit, Options(text).slice(TaskOptions)) == "[a] [b]"


def test_files_of_a_compacted_bucket_are_rewritten_one_by_one() -> None:
    unit = drawn_unit("5:1..9=1  5:10..19=1  -> 5", is_file_by_file=True)

    assert draw_steps(unit) == "[a] [b]"


def test_the_files_of_a_rewrite_are_those_of_its_sections() -> None:
    (step,) = steps(
        drawn_unit("0:30..39=1  0:1..9=1  -> 5"),
        [INT],
        OPTIONS,
        max_level=MAX_LEVEL,
        drop_deletes=False,
    )

    assert isinstance(step, Rewrite)
    assert [file.file_name for file in step.files] == ["b", "a"]
    assert not step.drop_deletes


def test_what_is_small_follows_the_target_size() -> None:
    assert TaskOptions().min_file_size_bytes == 93952404
    halves = {"target-file-size": "100 b", "compaction.small-file-ratio": "0.5"}
    assert Options(halves).slice(TaskOptions).min_file_size_bytes == 50


@pytest.mark.parametrize(
    ("output_level", "has_vectors", "expected"),
    [(0, True, False), (2, False, False), (2, True, True), (3, False, True), (5, False, True)],
)
def test_deletes_are_dropped_where_nothing_older_is_left(
    output_level: int, has_vectors: bool, expected: bool
) -> None:
    runs = drawn_runs("L0 1 1 | L3 9")
    unit = CompactUnit(output_level, runs[0].files)

    assert drops_deletes(unit, runs, has_vectors=has_vectors) is expected
