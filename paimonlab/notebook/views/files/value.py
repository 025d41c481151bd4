"""The data files of a table as areas: partitions, buckets and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.analysis.files.file_sizes import Advice, SizeBin, advice, numbered, size_bins
from paimonlab.analysis.row_words import BEFORE_MERGING
from paimonlab.arrow_values import numpy_values
from paimonlab.notebook.views.files.squares import Box, squarified
from paimonlab.spec.visible_text import shortened

WIDTH, HEIGHT = 1000, 480
MOST_PARTITIONS = 100
MOST_BUCKETS = 16
"""Buckets of a partition that have areas."""
MOST_FILES = 1000
"""Files of the table that have areas."""
FILES_A_BUCKET = 20
"""Files of a bucket that have areas, if not all have; the largest partitions come first."""

Numbers = npt.NDArray[np.int64]


class Tile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An area of the map."""

    parent: int
    """Index of the tile around it; -1 if there is none."""
    kind: str
    """``partition``, ``bucket`` or ``file``."""
    name: str | None
    """``dt=2026-01-01``, the bucket's number or the file's name; None for several together."""
    x: float
    """Of a map 1000 wide and 480 high."""
    y: float
    width: float
    height: float
    files: int
    rows: int
    bytes: int | None
    level: int | None
    """Of a file in a table with primary key."""


class FileMap(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="files", tag_field="kind"
):
    """The live data files of a snapshot."""

    table: str
    snapshot_id: int | None
    """None if the table has no snapshot yet."""
    weight: str
    """What areas are: ``bytes`` or ``rows``."""
    file_count: int
    row_count: int
    bytes: int | None
    partition_count: int
    bucket_count: int
    tile_count: int
    """Files that have an area of their own."""
    bins: tuple[SizeBin, ...]
    advice: tuple[Advice, ...]
    tiles: tuple[Tile, ...]
    """Each after the one around it."""
    rows_are: str = BEFORE_MERGING
    """What the rows of files are, as `rows_are` says it."""


@dataclass(slots=True)
class _Map:
    """What tiles are computed from, and those added so far."""

    names: Sequence[str]
    levels: Sequence[int | None]
    sizes: Numbers
    rows: Numbers
    weights: Numbers
    tiles: list[Tile] = field(default_factory=list)

    def add(self, parent: int, kind: str, name: str | None, files: Numbers, box: Box) -> int:
        """Add a tile of some files; return its index."""
        self.tiles.append(
            Tile(
                parent=parent,
                kind=kind,
                name=name,
                x=round(box.x, 1),
                y=round(box.y, 1),
                width=round(box.width, 1),
                height=round(box.height, 1),
                files=len(files),
                rows=int(self.rows[files].sum()),
                bytes=int(self.sizes[files].sum()),
                level=self.levels[files[0]] if kind == "file" and name is not None else None,
            )
        )
        return len(self.tiles) - 1

    def weight(self, files: Numbers) -> float:
        return float(self.weights[files].sum())


def file_map(
    table: str,
    snapshot_id: int | None,
    files: pa.Table,
    partitions: Sequence[str],
    *,
    weight: str = "bytes",
    has_levels: bool,
    rows_are: str = BEFORE_MERGING,
) -> FileMap:
    """Lay out data files.

    Parameters
    ----------
    table
        Its name.
    snapshot_id
        The snapshot that is shown.
    files
        Live files of `ENTRY_SCHEMA`, n of them.
    partitions
        (n,) names of their partitions.
    weight
        What areas are: ``bytes`` or ``rows``.
    has_levels
        Whether the table has a primary key.
    rows_are
        What the rows of files are: `paimonlab.analysis.row_words.rows_are`.
    """
    sizes, rows = (numpy_values(files[name]) for name in ("file_size_bytes", "row_count"))
    of_partition, of_bucket = numbered(partitions, files["bucket"])
    levels = files["level"].to_pylist() if has_levels else [None] * files.num_rows
    weights = sizes if weight == "bytes" else rows
    tile_map = _Map(files["file_name"].to_pylist(), levels, sizes, rows, weights)
    _lay_out(tile_map, partitions, of_partition, of_bucket, numpy_values(files["bucket"]))
    return FileMap(
        table=table,
        snapshot_id=snapshot_id,
        weight=weight,
        file_count=files.num_rows,
        row_count=int(rows.sum()),
        bytes=int(sizes.sum()),
        partition_count=int(of_partition.max(initial=-1)) + 1,
        bucket_count=int(of_bucket.max(initial=-1)) + 1,
        tile_count=sum(tile.kind == "file" and tile.name is not None for tile in tile_map.tiles),
        bins=tuple(size_bins(sizes, rows)),
        advice=tuple(advice(table, sizes, of_bucket)),
        tiles=tuple(tile_map.tiles),
        rows_are=rows_are,
    )


def _lay_out(
    tile_map: _Map,
    partitions: Sequence[str],
    of_partition: Numbers,
    of_bucket: Numbers,
    buckets: npt.NDArray[np.int32],
) -> None:
    groups = _largest(
        tile_map, _groups(np.arange(len(of_partition)), of_partition), MOST_PARTITIONS
    )
    by_bucket = [
        [] if is_rest else _largest(tile_map, _groups(files, of_bucket[files]), MOST_BUCKETS)
        for files, is_rest in groups
    ]
    alone = [
        files for bucket_groups in by_bucket for files, is_rest in bucket_groups if not is_rest
    ]
    left = iter(places([len(files) for files in alone], MOST_FILES))
    boxes = squarified([tile_map.weight(files) for files, _ in groups], Box(0, 0, WIDTH, HEIGHT))
    for (files, is_rest), inner, box in zip(groups, by_bucket, boxes, strict=True):
        name = None if is_rest else shortened(partitions[files[0]])
        parent = tile_map.add(-1, "partition", name, files, box)
        weights = [tile_map.weight(files) for files, _ in inner]
        for (bucket_files, is_mixed), bucket_box in zip(
            inner, squarified(weights, box), strict=True
        ):
            bucket = None if is_mixed else str(buckets[bucket_files[0]])
            tile = tile_map.add(parent, "bucket", bucket, bucket_files, bucket_box)
            if not is_mixed:
                _lay_out_files(tile_map, tile, bucket_files, next(left), bucket_box)


def places(counts: Sequence[int], most: int) -> list[int]:
    """Say how many areas for files each bucket has, the first buckets first.

    Parameters
    ----------
    counts
        Files of each bucket.
    most
        Areas to divide among them.

    Examples
    --------
    >>> places([3, 4], 100), places([50, 50, 50], 30), places([50, 2], 60)
    ([3, 4], [20, 10, 0], [50, 2])
    """
    areas = []
    each = max(FILES_A_BUCKET, most // max(len(counts), 1))
    if sum(counts) <= most:
        each = most
    for number in counts:
        areas.append(min(number, each, most))
        most -= areas[-1]
    return areas


def _lay_out_files(tile_map: _Map, parent: int, files: Numbers, most: int, box: Box) -> None:
    order = files[np.argsort(-tile_map.weights[files], kind="stable")]
    # The last area is that of the rest; a rest of one file is shown as that file.
    shown = order if len(order) <= most else order[: max(most - 1, 0)]
    parts = [order[number : number + 1] for number in range(len(shown))]
    rest = order[len(shown) :]
    boxes = _ordered([tile_map.weight(part) for part in (*parts, rest) if len(part)], box)
    for part, part_box in zip(parts, boxes, strict=False):
        tile_map.add(parent, "file", tile_map.names[part[0]], part, part_box)
    if len(rest) and parts:
        tile_map.add(parent, "file", None, rest, boxes[-1])


def _ordered(weights: Sequence[float], box: Box) -> list[Box]:
    """Divide a rectangle among weights in any order."""
    order = sorted(range(len(weights)), key=lambda number: -weights[number])
    boxes = squarified([weights[number] for number in order], box)
    in_order = list(boxes)
    for part, number in zip(boxes, order, strict=True):
        in_order[number] = part
    return in_order


def _groups(files: Numbers, of_file: Numbers) -> list[Numbers]:
    order = np.argsort(of_file, kind="stable")
    edges = np.flatnonzero(np.diff(of_file[order])) + 1
    return [files[part] for part in np.split(order, edges) if len(part)]


def _largest(tile_map: _Map, groups: Sequence[Numbers], most: int) -> list[tuple[Numbers, bool]]:
    """Return the largest groups and, as one, the rest; by weight."""
    ordered = sorted(groups, key=lambda files: -tile_map.weight(files))
    if len(ordered) <= most:
        return [(files, False) for files in ordered]
    rest = (np.concatenate(ordered[most:]), True)
    largest = [(files, False) for files in ordered[:most]]
    return sorted([*largest, rest], key=lambda group: -tile_map.weight(group[0]))


def repeatable_files(value: FileMap) -> FileMap:
    """Leave out what differs from run to run: names are numbered, bytes are hidden."""
    replace = msgspec.structs.replace
    tiles, number = [], 0
    for tile in value.tiles:
        is_file = tile.kind == "file" and tile.name is not None
        number += is_file
        name = f"data#{number}" if is_file else tile.name
        tiles.append(replace(tile, name=name, bytes=None))
    return replace(
        value,
        bytes=None,
        bins=tuple(replace(size_bin, bytes=None) for size_bin in value.bins),
        advice=tuple(advice for advice in value.advice if advice.code != "uneven"),
        tiles=tuple(tiles),
    )
