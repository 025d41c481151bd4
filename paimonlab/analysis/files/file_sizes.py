"""How large data files are, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.scan.entries import codes, group_codes
from paimonlab.spec.plurals import many
from paimonlab.spec.sql_text.call_text import call_text

MIB = 1 << 20
EDGES = (8 * MIB, 32 * MIB, 128 * MIB, 512 * MIB)
"""Bins of the histogram: a file of as many bytes as an edge is in the bin above it."""
NAMES = ("0-8 MiB", "8-32 MiB", "32-128 MiB", "128-512 MiB", "512 MiB and more")

FEW_FILES = 16
"""Fewer files get no advice."""
SMALL_BYTES = 32 * MIB
SMALL_SHARE = 0.3
MANY_FILES = 1000
UNEVEN = 0.5
"""Standard deviation over mean."""

Numbers = npt.NDArray[np.int64]


class SizeBin(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A bar of the histogram."""

    name: str
    files: int
    rows: int
    bytes: int | None


class Advice(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the sizes of files suggest."""

    code: str
    """``compact``, ``spread``, ``many``, ``uneven``, ``few`` or ``fine``."""
    text: str
    """With the number that was measured and the threshold."""
    action: str
    """SQL to run; "" if there is none."""


def size_bins(sizes: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> list[SizeBin]:
    """Count files by size.

    Parameters
    ----------
    sizes : (n,) int64
        Bytes of each file.
    rows : (n,) int64
        Rows of each file.
    """
    places = bin_of(sizes)
    count = len(NAMES)
    return [
        SizeBin(
            name=name,
            files=int((places == number).sum()),
            rows=int(rows[places == number].sum()),
            bytes=int(sizes[places == number].sum()),
        )
        for number, name in zip(range(count), NAMES, strict=True)
    ]


def bin_of(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the place in `NAMES` of each file."""
    return np.searchsorted(np.array(EDGES), sizes, side="right")


def numbered(partitions: Sequence[str], buckets: pa.ChunkedArray) -> tuple[Numbers, Numbers]:
    """Give numbers to the partitions of n files, and to their buckets over all partitions.

    Parameters
    ----------
    partitions : (n,)
        Name of each file's partition.
    buckets : (n,) int32
        The number of its bucket there.

    Returns
    -------
    (n,) int64
        A number for the partition of each file, from 0.
    (n,) int64
        A number for its bucket, from 0: different in each partition.
    """
    of_partition = codes(arrow_array(partitions, pa.string()))
    return of_partition, group_codes([of_partition, codes(buckets)])


def advice(
    table: str, sizes: npt.NDArray[np.int64], buckets: npt.NDArray[np.int64]
) -> list[Advice]:
    """Say what the sizes of files suggest.

    Parameters
    ----------
    table
        Name of the table, for what to run.
    sizes : (n,) int64
        Bytes of each file.
    buckets : (n,) int64
        A number for the bucket that each file is in, from 0.

    Returns
    -------
    list of Advice
        At least one.
    """
    if len(sizes) < FEW_FILES:
        text = f"{_files(len(sizes))}: too few to judge (fewer than {FEW_FILES})"
        return [Advice(code="few", text=text, action="")]
    suggestions = list(_rules(table, sizes, buckets))
    return suggestions or [
        Advice(code="fine", text="file sizes are fine: no rule applies", action="")
    ]


def _rules(
    table: str, sizes: npt.NDArray[np.int64], buckets: npt.NDArray[np.int64]
) -> Iterator[Advice]:
    is_small = sizes < SMALL_BYTES
    small = int(is_small.sum())
    if small > SMALL_SHARE * len(sizes):
        yield _of_small_files(table, len(sizes), small, np.bincount(buckets[is_small]))
    if len(sizes) > MANY_FILES:
        yield Advice(
            code="many",
            text=f"{_files(len(sizes))} (more than {MANY_FILES:,}): planning reads metadata of all "
            "of them; compaction or a larger target-file-size makes fewer files",
            action="",
        )
    mean = float(sizes.mean())
    spread = float(sizes.std()) / mean if mean else 0.0
    if spread > UNEVEN:
        yield Advice(
            code="uneven",
            text=f"sizes are uneven: their standard deviation is {spread:.2f} of their mean "
            f"(more than {UNEVEN})",
            action="",
        )


def _of_small_files(table: str, count: int, small: int, by_bucket: npt.NDArray[np.int64]) -> Advice:
    begin = (
        f"{100 * small / count:.0f} % of {_files(count)} are smaller than "
        f"{SMALL_BYTES // MIB} MiB (more than {100 * SMALL_SHARE:.0f} %)"
    )
    together = int(by_bucket[by_bucket > 1].sum())
    shared = int((by_bucket > 1).sum())
    if not together:
        text = f"{begin}, each alone in its bucket: fewer buckets or partitions make larger files"
        return Advice(code="spread", text=text, action="")
    return Advice(
        code="compact",
        text=f"{begin}; {together:,} of them share {many(shared, 'bucket')} with "
        "other small files: compact",
        action=call_text("compact", table),
    )


def _files(count: int) -> str:
    return f"{count:,} file" if count == 1 else f"{count:,} files"
