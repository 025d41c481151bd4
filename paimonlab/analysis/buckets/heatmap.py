"""Partitions and buckets by what they contain: which are large, old, full of small files."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.analysis.buckets.measures import DEFAULT_TOP, HIDDEN_MEASURES, MEASURES
from paimonlab.analysis.buckets.skew import Skew, skew
from paimonlab.analysis.row_words import BEFORE_MERGING
from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.scan.file_totals import Groups
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.visible_text import shortened

MOST_COLUMNS = 64
_SUMS = ("bytes", "files", "rows", "level_0", "updated_millis")

Numbers = tuple[int | None, ...]
"""One for each column; None if there is no such bucket."""


class HeatmapColumn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A bucket, or several consecutive ones."""

    first: int
    last: int


class HeatmapRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A partition, or all others together."""

    partition: str | None
    """``dt=2026-01-01``; "" in a table without partitions. None: the
    rest."""
    partition_count: int
    bytes: Numbers
    files: Numbers
    rows: Numbers
    """Before merging."""
    level_0: Numbers
    """Files on level 0."""
    updated_millis: Numbers
    """When the newest file was written, by its writer's clock."""


class Heatmap(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="heatmap", tag_field="kind"
):
    """The buckets of a snapshot, a row per partition and a column per bucket."""

    table: str
    snapshot_id: int | None
    """None if the table has no snapshot yet."""
    measure: str
    """By which the partitions shown were chosen and ordered, largest first."""
    measures: tuple[str, ...]
    """Those that the table has, of `MEASURES`."""
    columns: tuple[HeatmapColumn, ...]
    rows: tuple[HeatmapRow, ...]
    rest: HeatmapRow | None
    """All partitions without a row of their own."""
    partition_count: int
    bucket_count: int
    """Buckets that have files, of all partitions."""
    newest_millis: int | None
    """When the newest file of the table was written."""
    skews: tuple[Skew, ...]
    """Over all buckets, including those of the rest."""
    rows_are: str = BEFORE_MERGING
    """What the rows of files are, as `rows_are` says it."""


def bucket_sums(files: pa.Table) -> pa.Table:
    """Add up the files of each bucket.

    Parameters
    ----------
    files
        Live files, of `ENTRY_SCHEMA`.

    Returns
    -------
    pyarrow.Table
        ``partition`` (serialised), ``bucket`` and int64 columns ``bytes``, ``files``, ``rows``,
        ``level_0`` and ``updated_millis``, which may be null.
    """
    groups = Groups.of(files, ["partition", "bucket"])
    totals = pa.table(
        {
            "partition": groups.first(files["partition"]),
            "bucket": groups.first(files["bucket"]),
            "bytes": arrow_array(groups.sums(numpy_values(files["file_size_bytes"]))),
            "files": arrow_array(groups.counts),
            "rows": arrow_array(groups.sums(numpy_values(files["row_count"]))),
            "level_0": arrow_array(groups.sums(numpy_values(files["level"]) == 0)),
            "updated_millis": groups.latest(files["creation_time_millis"]),
        }
    )
    return totals.take(arrow_array(groups.by_first_row()))


def heatmap(
    table: str,
    snapshot_id: int | None,
    sums: pa.Table,
    partitions: Sequence[str],
    *,
    by: str = "bytes",
    top: int = DEFAULT_TOP,
    has_levels: bool,
    rows_are: str = BEFORE_MERGING,
) -> Heatmap:
    """Lay out buckets by partition and number.

    Parameters
    ----------
    table
        Its name.
    snapshot_id
        The snapshot that is shown.
    sums
        Of `bucket_sums`: n buckets.
    partitions
        (n,) names of their partitions.
    by
        One of `paimonlab.analysis.buckets.measures.MEASURES`: the partitions that have most of it
        get a row.
    top
        How many partitions get a row; the rest is added up.
    has_levels
        Whether the table has a primary key.
    rows_are
        What the rows of files are: `paimonlab.analysis.row_words.rows_are`.

    Raises
    ------
    ValueError
        If there is no such measure, or ``top`` is less than 1.
    """
    measures = tuple(name for name in MEASURES if has_levels or name != "level_0")
    if by not in measures:
        raise ValueError(f"the measure must be one of {', '.join(measures)}, got {by!r}")
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top}")
    names, of_row = np.unique(np.array(partitions, object).astype(str), return_inverse=True)
    columns, of_column = _columns(numpy_values(sums["bucket"]))
    values = {name: _filled(sums[name]) for name in _SUMS}
    newest = int(values["updated_millis"].max(initial=-1))
    amounts = measured(_totals(values, of_row, len(names)), by, newest)
    order = np.argsort(-amounts, kind="stable")
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    shape = (min(top, len(names)) + 1, len(columns))
    cells = _cells(values, np.minimum(rank[of_row], shape[0] - 1), of_column, shape)
    rows = [
        _row(shortened(str(names[number])), 1, cells, row)
        for row, number in enumerate(order[: shape[0] - 1])
    ]
    rest_count = len(names) - len(rows)
    skews = [
        skew(name, measured(values, name, newest), adds_up=name in {"bytes", "files", "rows"})
        for name in measures
    ]
    return Heatmap(
        table=table,
        snapshot_id=snapshot_id,
        measure=by,
        measures=measures,
        columns=tuple(columns),
        rows=tuple(rows),
        rest=_row(None, rest_count, cells, shape[0] - 1) if rest_count else None,
        partition_count=len(names),
        bucket_count=sums.num_rows,
        newest_millis=newest if newest >= 0 else None,
        skews=tuple(spread for spread in skews if spread is not None),
        rows_are=rows_are,
    )


Arrays = dict[str, npt.NDArray[np.int64]]


def measured(values: Arrays, measure: str, newest: int) -> npt.NDArray[np.float64]:
    """Return a measure of buckets or partitions.

    Parameters
    ----------
    values
        By `_SUMS`, (n,) each; a bucket without files does not exist.
    measure
        One of `paimonlab.analysis.buckets.measures.MEASURES`.
    newest
        When the newest file of the table was made.
    """
    files = np.maximum(values["files"], 1)
    match measure:
        case "file_size":
            return values["bytes"] / files
        case "level_0":
            return values["level_0"] / files
        case "age":
            return np.maximum(newest - values["updated_millis"], 0).astype(np.float64)
    return values[measure].astype(np.float64)


def _filled(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    return numpy_values(null_filled(column, -1)).astype(np.int64)


def _totals(values: Arrays, of_row: npt.NDArray[np.int64], count: int) -> Arrays:
    cells = _cells(values, of_row, np.zeros(len(of_row), np.int64), (count, 1))
    return {name: sums[:, 0] for name, sums in cells.items()}


def _cells(
    values: Arrays,
    of_row: npt.NDArray[np.int64],
    of_column: npt.NDArray[np.int64],
    shape: tuple[int, int],
) -> Arrays:
    """Add up buckets that share a cell; of times the newest counts."""
    sums = {}
    for name, numbers in values.items():
        is_time = name == "updated_millis"
        cells = np.full(shape, -1 if is_time else 0, np.int64)
        (np.maximum if is_time else np.add).at(cells, (of_row, of_column), numbers)
        sums[name] = cells
    return sums


def _row(partition: str | None, count: int, cells: Arrays, row: int) -> HeatmapRow:
    files = cells["files"][row]
    numbers = {
        name: tuple(
            None if not file_count or value < 0 else value
            for file_count, value in zip(files.tolist(), amounts[row].tolist(), strict=True)
        )
        for name, amounts in cells.items()
    }
    return HeatmapRow(partition=partition, partition_count=count, **numbers)


def _columns(
    buckets: npt.NDArray[np.int32],
) -> tuple[list[HeatmapColumn], npt.NDArray[np.int64]]:
    """Give each bucket a column, or some together if there are too many."""
    numbers = distinct_integers(buckets)
    width = 1
    while len(distinct_integers(_groups(numbers, width))) > MOST_COLUMNS:
        width *= 2
    groups = _groups(numbers, width)
    firsts, of_number = np.unique(groups, return_inverse=True)
    columns = [
        HeatmapColumn(
            first=int(numbers[groups == group].min()), last=int(numbers[groups == group].max())
        )
        for group in firsts
    ]
    return columns, of_number[np.searchsorted(numbers, buckets)].astype(np.int64)


def _groups(buckets: npt.NDArray[np.int32], width: int) -> npt.NDArray[np.int64]:
    """Return numbers of groups; rows that wait for a bucket (-2) are never together with others."""
    return np.where(buckets < 0, buckets, buckets // width).astype(np.int64)


def repeatable_heatmap(value: Heatmap) -> Heatmap:
    """Leave out what differs from run to run: bytes and times."""
    replace = msgspec.structs.replace
    return replace(
        value,
        measures=tuple(name for name in value.measures if name not in HIDDEN_MEASURES),
        rows=tuple(map(_repeatable_row, value.rows)),
        rest=value.rest and _repeatable_row(value.rest),
        newest_millis=None,
        skews=tuple(spread for spread in value.skews if spread.measure not in HIDDEN_MEASURES),
    )


def _repeatable_row(row: HeatmapRow) -> HeatmapRow:
    nothing = (None,) * len(row.files)
    return msgspec.structs.replace(row, bytes=nothing, updated_millis=nothing)
