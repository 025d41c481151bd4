from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from paimonlab.merge.pieces import KeyBatch, KeyColumns, winners_of_runs
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND
from tests.repetitions import times

KEY_VALUES: dict[str, tuple[pa.DataType, Any]] = {
    "int64": (pa.int64(), lambda number: (number - 30) * 10**16),
    "int64, close": (pa.int64(), lambda number: number - 30),
    "int32": (pa.int32(), lambda number: number - 30),
    "double": (pa.float64(), lambda number: number / 7 - 4),
    "text": (pa.string(), lambda number: "é" * (number % 3) + str(number)),
    "long text": (pa.string(), lambda number: f"{'x' * 70}{number}"),
    "bytes": (pa.binary(), lambda number: bytes([number, 0])[: 1 + number % 2]),
    "decimal": (pa.decimal128(30, 0), lambda number: (number - 30) * 10**25),
    "boolean": (pa.bool_(), lambda number: number % 2 == 0),
}


def _stream(rows: list[dict[str, Any]], schema: pa.Schema, batch: int) -> Iterator[KeyBatch]:
    for start in range(0, max(1, len(rows)), batch):
        part = pa.RecordBatch.from_pylist(rows[start : start + batch], schema)
        yield KeyBatch(part, start + batch >= len(rows))


def _sort_value(kind: pa.DataType, value: Any) -> Any:
    return value.encode() if pa.types.is_string(kind) else value


def _random_runs(rng: np.random.Generator, kind: pa.DataType, key_of: Any) -> list[list[Any]]:
    runs = []
    sequence = 0
    for _ in range(int(rng.integers(1, 6))):
        numbers = rng.choice(60, size=int(rng.integers(0, 40)), replace=False).tolist()
        keys = sorted({key_of(number) for number in numbers}, key=lambda k: _sort_value(kind, k))
        rows = []
        for key in keys:
            sequence += 1
            rows.append(
                {
                    "k": key,
                    "s": None if rng.random() < 0.2 else int(rng.integers(0, 4)),
                    SEQUENCE_NUMBER: sequence,
                    VALUE_KIND: int(rng.integers(0, 4)),
                }
            )
        runs.append(rows)
    return runs


def _replayed(runs: list[list[Any]], columns: KeyColumns) -> list[list[bool]]:
    """Say which rows win, by a dict and one row at a time."""
    best: dict[Any, tuple[Any, tuple[int, int]]] = {}
    for run, rows in enumerate(runs):
        for position, row in enumerate(rows):
            rank: list[Any] = []
            if columns.sequence_fields:
                value = row["s"]
                direction = -1 if columns.is_descending else 1
                rank.append((0, 0) if value is None else (1, direction * value))
            if not columns.is_position_enough:
                rank.append(row[SEQUENCE_NUMBER])
            if row["k"] not in best or rank >= best[row["k"]][0]:
                best[row["k"]] = (rank, (run, position))
    winning = {place for _, place in best.values()}
    adds = {RowKind.INSERT, RowKind.UPDATE_AFTER}
    return [
        [
            (run, position) in winning and (not columns.has_deletes or row[VALUE_KIND] in adds)
            for position, row in enumerate(rows)
        ]
        for run, rows in enumerate(runs)
    ]


def _masks(
    runs: list[list[Any]], schema: pa.Schema, columns: KeyColumns, *, batch: int, piece: int
) -> list[list[bool]]:
    narrow = pa.schema([schema.field(name) for name in columns.names])
    rows = [[{name: row[name] for name in columns.names} for row in run] for run in runs]
    streams = [_stream(run, narrow, batch) for run in rows]
    masks: list[list[npt.NDArray[np.bool_]]] = [[] for _ in runs]
    for piece_masks in winners_of_runs(streams, columns, piece_rows=piece):
        for run, mask in zip(masks, piece_masks, strict=True):
            run.append(mask)
    return [np.concatenate(run).tolist() if run else [] for run in masks]


@pytest.mark.parametrize("name", KEY_VALUES)
def test_agrees_with_a_dict_whatever_the_size_of_pieces(
    name: str, rng: np.random.Generator
) -> None:
    kind, key_of = KEY_VALUES[name]
    schema = pa.schema(
        [
            ("k", kind),
            ("s", pa.int32()),
            (SEQUENCE_NUMBER, pa.int64()),
            (VALUE_KIND, pa.int8()),
        ]
    )
    for _ in range(times(15)):
        runs = _random_runs(rng, kind, key_of)
        mode = int(rng.integers(0, 4))
        columns = KeyColumns(
            keys=("k",),
            sequence_fields=("s",) if mode >= 2 else (),
            is_descending=mode == 3,
            is_position_enough=mode == 0,
            has_deletes=bool(rng.random() < 0.8),
        )
        expected = _replayed(runs, columns)
        for batch, piece in [(1000, 1000), (1, 1), (3, 10), (7, 1)]:
            masks = _masks(runs, schema, columns, batch=batch, piece=piece)

            assert masks == expected, (mode, batch, piece)


def test_a_piece_holds_no_more_than_it_may() -> None:
    schema = pa.schema([("k", pa.int64())])
    columns = KeyColumns(keys=("k",), is_position_enough=True, has_deletes=False)
    read = [0, 0]

    def stream(run: int) -> Iterator[KeyBatch]:
        for start in range(0, 1000, 10):
            read[run] += 10
            keys = pa.array(range(start, start + 10), pa.int64())
            yield KeyBatch(pa.record_batch([keys], schema), start == 990)

    decided = [0, 0]
    for masks in winners_of_runs([stream(0), stream(1)], columns, piece_rows=20):
        for run in range(2):
            decided[run] += len(masks[run])
            assert read[run] - decided[run] <= 20

    assert decided == [1000, 1000]
