from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.compact.changelog import ChangelogOptions, changelog, differing
from paimonlab.compact.strategy import LevelOptions
from paimonlab.compact.upgrading import UpgradeKind, upgrade_kind
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from tests.support import draw, rows

VALUE = DataField(1, "value", parse_type("STRING"))
BEFORE = "a@1:+I=1 b@2:+I=2 c@3:-D=3 d@4:+U=4"


def report(after: str, before_at: list[int], concerned: str = "", **how: object) -> str:
    found = rows(after)
    mask = [not concerned or key in concerned for key in found["key"].to_pylist()]
    return draw(
        changelog(
            rows(BEFORE),
            np.array(before_at),
            found,
            concerned=np.array(mask, bool),
            **how,  # type: ignore[arg-type]
        )
    )


@pytest.mark.parametrize(
    ("after", "before_at", "expected"),
    [
        ("a@9:+U=7", [-1], "a@9:+I=7"),
        ("a@9:-D=7", [-1], ""),
        ("c@9:+U=7", [2], "c@9:+I=7"),
        ("c@9:-D=7", [2], ""),
        ("b@9:-D=7", [1], "b@2:-D=2"),
        ("b@9:-U=7", [1], "b@2:-D=2"),
        ("b@9:+I=7", [1], "b@2:-U=2 b@9:+U=7"),
        ("d@9:+I=4", [3], "d@4:-U=4 d@9:+U=4"),
        (
            "a@9:-D=1 b@9:+I=9 e@9:+I=5",
            [0, 1, -1],
            "a@1:-D=1 b@2:-U=2 b@9:+U=9 e@9:+I=5",
        ),
    ],
)
def test_what_became_of_keys_is_reported(after: str, before_at: list[int], expected: str) -> None:
    assert report(after, before_at) == expected


def test_only_keys_that_are_concerned_are_reported() -> None:
    assert report("a@9:+I=9 b@9:+I=9", [0, 1], concerned="b") == "b@2:-U=2 b@9:+U=9"


def test_rows_that_stay_are_left_out_if_that_is_wanted() -> None:
    after, places = "a@9:+U=1 b@9:+I=9 d@9:-D=4", [0, 1, 3]

    assert report(after, places, compared=(VALUE,)) == "b@2:-U=2 b@9:+U=9 d@4:-D=4"
    assert report(after, places, compared=()) == "d@4:-D=4"


def test_nulls_equal_each_other_and_nan_equals_nothing() -> None:
    types = {"i": "INT", "d": "DOUBLE", "l": "ARRAY<INT>"}
    left = pa.table(
        {
            "i": pa.array([1, None, None, 1, 1], pa.int32()),
            "d": [math.nan, 1.0, 1.0, -0.0, 1.0],
            "l": pa.array([[1], [1], None, [1, None], [2]], pa.list_(pa.int32())),
        }
    )
    right = pa.table(
        {
            "i": pa.array([1, None, 1, 1, 1], pa.int32()),
            "d": [math.nan, 1.0, 1.0, 0.0, 1.0],
            "l": pa.array([[1], [1], None, [1, None], [3]], pa.list_(pa.int32())),
        }
    )
    found = {
        name: differing(left, right, [DataField(0, name, parse_type(text))]).tolist()
        for name, text in types.items()
    }

    assert found["i"] == [False, False, True, False, False]
    assert found["d"] == [True, False, False, False, False]
    assert found["l"] == [False, False, False, False, True]


def test_ignored_columns_are_not_compared() -> None:
    schema = TableSchema(0, (VALUE, DataField(2, "at", parse_type("INT"))), 2)
    options = {
        "changelog-producer.row-deduplicate": "true",
        "changelog-producer.row-deduplicate-ignore-fields": "at",
    }

    assert Options(options).slice(ChangelogOptions).compared(schema) == (VALUE,)
    assert ChangelogOptions().compared(schema) is None


LOOKUP = {"changelog-producer": "lookup"}
VECTORS = {"deletion-vectors.enabled": "true"}
AGGREGATION = {"merge-engine": "aggregation"}


@pytest.mark.parametrize(
    ("options", "level", "output_level", "expected"),
    [
        ({}, 0, 5, UpgradeKind.METADATA),
        (LOOKUP, 0, 5, UpgradeKind.LOOKED_AT),
        (LOOKUP, 0, 4, UpgradeKind.LOOKED_AT),
        (LOOKUP, 3, 5, UpgradeKind.METADATA),
        (LOOKUP | AGGREGATION, 0, 5, UpgradeKind.LOOKED_AT),
        (LOOKUP | AGGREGATION, 0, 4, UpgradeKind.REWRITTEN),
        (LOOKUP | AGGREGATION, 2, 4, UpgradeKind.METADATA),
        (VECTORS, 0, 4, UpgradeKind.LOOKED_AT),
        ({"merge-engine": "first-row"}, 0, 4, UpgradeKind.REWRITTEN),
        ({"changelog-producer": "full-compaction"}, 0, 5, UpgradeKind.LOOKED_AT),
        ({"changelog-producer": "full-compaction"}, 4, 5, UpgradeKind.LOOKED_AT),
        ({"changelog-producer": "full-compaction"}, 0, 4, UpgradeKind.METADATA),
    ],
)
def test_files_are_moved_without_a_look_where_nobody_needs_one(
    options: dict[str, str], level: int, output_level: int, expected: UpgradeKind
) -> None:
    assert kind_of(options, level, output_level) is expected


def kind_of(options: dict[str, str], level: int, output_level: int, **how: int) -> UpgradeKind:
    given = {"has_sequence_fields": 0, "is_same_format": 1, "deletes": 0} | how
    file = DataFileMeta(
        file_name="f",
        file_size_bytes=1,
        row_count=1,
        min_sequence_number=0,
        max_sequence_number=0,
        schema_id=0,
        level=level,
        delete_row_count=given["deletes"],
    )
    return upgrade_kind(
        file,
        output_level,
        Options(options).slice(LevelOptions),
        has_sequence_fields=bool(given["has_sequence_fields"]),
        is_same_format=bool(given["is_same_format"]),
    )


def test_what_forbids_a_file_to_be_moved_as_it_is() -> None:
    rewritten = UpgradeKind.REWRITTEN
    assert kind_of(LOOKUP, 0, 4, has_sequence_fields=1) is rewritten
    assert kind_of(LOOKUP, 0, 5, has_sequence_fields=1) is UpgradeKind.LOOKED_AT
    assert kind_of(LOOKUP, 0, 5, is_same_format=0) is rewritten
    assert kind_of(VECTORS, 0, 5, deletes=1) is rewritten
    assert kind_of(LOOKUP, 0, 5, deletes=1) is UpgradeKind.LOOKED_AT
