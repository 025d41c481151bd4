"""Data files: how many of which size, what to do, and a map of them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from paimonlab.notebook.display import svg
from paimonlab.notebook.display.characters import cut
from paimonlab.notebook.display.colours import AMOUNT_EDGE, AMOUNTS, INK, RULE
from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import files_text, next_rows
from paimonlab.notebook.display.numbers import bytes_text, count
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.files.value import HEIGHT, WIDTH, FileMap, Tile
from paimonlab.spec.visible_text import visible

_BAR_COLUMNS = 24
_LARGEST = 10
"""Partitions that are described in words."""
_NAME_COLUMNS = 40
_LEAST_LETTERS = 10
_SHOWN = 0.7
"""How large a page shows the picture at most: names are as high as the text around it."""
_LETTERS = 18
"""Height of names on the picture."""
_MIB = 1 << 20
_ENDS = (8 * _MIB, 32 * _MIB, 128 * _MIB, 512 * _MIB, math.inf)
_SHADES = tuple(zip(_ENDS, AMOUNTS, strict=True))
"""Upper ends of the sizes of files and a shade for each: the larger the darker."""


_STROKES = {"partition": 3, "bucket": 1.5, "file": 0.5}
"""Widths of lines around areas."""


def draw(files: FileMap, *, answer: Answer | None = None) -> Drawn[FileMap]:
    """Draw the data files of a table."""
    if not files.file_count:
        grid = Grid((), (), f"{files.table} has no data files", next_rows(files.table))
        return Drawn(files, grid, rows(()), link=files.table, answer=answer)
    return Drawn(
        files,
        _histogram(files),
        rows(files.bins),
        _picture(files),
        legend=[
            line
            for advice in files.advice
            for line in (advice.text, visible(advice.action))
            if line
        ],
        others=[_partitions(files)] if _is_partitioned(files) else [],
        link=files.table,
        answer=answer,
    )


def _histogram(files: FileMap) -> Grid:
    largest = max(size_bin.files for size_bin in files.bins)
    columns = (
        Column("size of a file"),
        Column("files", align=Align.RIGHT),
        Column("share", align=Align.RIGHT),
        Column("", is_drawing=True),
        Column(files.rows_are, align=Align.RIGHT),
        Column("size", align=Align.RIGHT),
    )
    body = [
        texts(
            [
                size_bin.name,
                count(size_bin.files),
                f"{100 * size_bin.files / files.file_count:.0f} %",
                "█" * -(-_BAR_COLUMNS * size_bin.files // largest),
                count(size_bin.rows),
                bytes_text(size_bin.bytes),
            ]
        )
        for size_bin in files.bins
    ]
    caption = (
        f"{files.table}: data files of snapshot {files.snapshot_id}, "
        f"{_many(files.row_count, 'row')}{files.rows_are.removeprefix('rows')}"
    )
    headline = files_text(files.file_count, files.bytes, files.bucket_count)
    return Grid(columns, body, caption, _footer(files), headline)


def _footer(files: FileMap) -> str:
    where = f"in {_many(files.bucket_count, 'bucket')}"
    if _is_partitioned(files):
        where += f" of {_many(files.partition_count, 'partition')}"
    if files.tile_count < files.file_count:
        where += (
            f"; the map has areas of their own for {files.tile_count:,} of "
            f"{files.file_count:,} files, the rest of each bucket is one area"
        )
    return where


def _is_partitioned(files: FileMap) -> bool:
    return any(tile.name for tile in files.tiles if tile.kind == "partition")


def _partitions(files: FileMap) -> Grid:
    """Return the partitions by weight, the largest first."""
    columns = (
        Column("partition"),
        Column("buckets", align=Align.RIGHT),
        Column("files", align=Align.RIGHT),
        Column(files.rows_are, align=Align.RIGHT),
        Column("size", align=Align.RIGHT),
    )
    buckets: dict[int, int] = {}
    for tile in files.tiles:
        if tile.kind == "bucket":
            buckets[tile.parent] = buckets.get(tile.parent, 0) + 1
    partitions = [
        (number, tile) for number, tile in enumerate(files.tiles) if tile.kind == "partition"
    ]
    body = [
        texts(
            [
                tile_name(files, tile),
                count(buckets.get(number)),
                count(tile.files),
                count(tile.rows),
                bytes_text(tile.bytes),
            ]
        )
        for number, tile in partitions[:_LARGEST]
    ]
    footer = f"{len(partitions) - _LARGEST:,} more" if len(partitions) > _LARGEST else ""
    return Grid(columns, body, f"partitions with most {files.weight}", footer)


def tile_name(files: FileMap, tile: Tile) -> str:
    """Say what an area is."""
    if tile.name is not None:
        if tile.kind == "bucket":
            return f"bucket {tile.name}"
        return visible(tile.name) or "(not partitioned)"
    if tile.kind == "partition":
        shown = sum(other.kind == "partition" for other in files.tiles) - 1
        return f"{files.partition_count - shown:,} more partitions"
    return f"{_many(tile.files, 'more file')}" if tile.kind == "file" else "more buckets"


def _picture(files: FileMap) -> str:
    drawn = svg.document(WIDTH, HEIGHT, _shapes(files), corner=None)
    size = (round(_SHOWN * side) for side in (WIDTH, HEIGHT))
    return svg.image(drawn, alternative(files), *size)


def alternative(files: FileMap) -> str:
    """Say in words what the picture shows."""
    parts = [tile for tile in files.tiles if tile.kind == "partition"]
    sentences = [
        f"{cut(tile_name(files, tile), _NAME_COLUMNS)} {_many(tile.files, 'file')}, "
        f"{_many(tile.rows, 'row')}" + (f", {bytes_text(tile.bytes)}" if tile.bytes else "")
        for tile in parts[:_LARGEST]
    ]
    more = f"; {len(parts) - _LARGEST} more" if len(parts) > _LARGEST else ""
    return f"Map of the files of {files.table} by {files.weight}: " + "; ".join(sentences) + more


def _shapes(files: FileMap) -> Iterator[str]:
    for tile in files.tiles:
        if tile.width and tile.height:
            yield svg.rectangle(
                *(tile.x, tile.y, tile.width, tile.height),
                fill=_shade(tile),
                stroke=AMOUNT_EDGE,
                stroke_width=_STROKES[tile.kind],
            )
    is_whole = not _is_partitioned(files)
    for tile in files.tiles:
        if tile.kind == ("bucket" if is_whole else "partition"):
            yield _label(files, tile)


def _shade(tile: Tile) -> str:
    """Return the colour of the average size of its files."""
    if tile.bytes is None or not tile.files:
        return RULE if tile.kind == "partition" else "none"
    return next(colour for end, colour in _SHADES if tile.bytes / tile.files < end)


def _label(files: FileMap, tile: Tile) -> str:
    room = int((tile.width - 12) / (0.62 * _LETTERS))
    if room < 4 or tile.height < 1.5 * _LETTERS:
        return ""
    name = tile_name(files, tile)
    if len(name) > room:
        name = name.rpartition("=")[2]
    if len(name) > room < _LEAST_LETTERS:
        return ""  # what is left of names is the same for all
    return svg.text(
        *(tile.x + 6, tile.y + _LETTERS + 4, cut(name, room)),
        fill=INK,
        font_size=_LETTERS,
        stroke=_shade(tile),  # so that lines behind it do not run through it
        stroke_width=5,
        paint_order="stroke",
    )


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
