"""Sorting more rows than fit into memory.

Rows are divided into ranges by bounds that a sample of them suggests, the ranges are kept in
temporary files, and each is sorted by itself. Order matters for speed here, not for correctness: a
range that is too large for memory is sorted in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.ordering.row_order import FittedOrder, RowOrder
from paimonlab.storage.failures import failures_named
from paimonlab.storage.forks import scratch_folder

Batches: TypeAlias = Iterable[pa.RecordBatch]

_MOST_RANGES = 256
"""Temporary files that are open at the same time."""
_SAMPLES_PER_RANGE = 500
_LEAST_SAMPLES = 20_000
_SPILL = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSource:
    """Rows that can be read again and again."""

    read: Callable[[Sequence[str] | None], Batches]
    """Reads columns, given by name; None: all."""
    row_count: int
    """How many there are, about."""


def sorted_rows(
    source: RowSource,
    order: RowOrder,
    *,
    memory_bytes: int,
    rng: np.random.Generator,
    folder: str | None = None,
) -> Generator[pa.Table, None, None]:
    """Read rows and yield them in order.

    Parameters
    ----------
    source
        The rows.
    order
        What comes first.
    memory_bytes
        Arrow bytes of the rows sorted at once; their copy needs the same again.
    rng
        Chooses the sample.
    folder
        Where the folder of temporary files is made; None: where the system has them. They hold
        the rows once, and are deleted when the iterator ends or is closed.

    Yields
    ------
    pyarrow.Table
        Each in order, none before rows of the one before it, except where more rows than fit
        into memory have keys that look alike.
    """
    held: list[pa.RecordBatch] = []
    held_bytes = 0
    batches = iter(source.read(None))
    for batch in batches:
        held.append(batch)
        held_bytes += batch.nbytes
        if held_bytes > memory_bytes:
            break
    else:
        if held:
            rows = pa.Table.from_batches(held)
            chance = min(1.0, _LEAST_SAMPLES / rows.num_rows)
            sample = _sampled(rows.select(order.names).to_batches(), chance, rng)
            yield order.fitted(sample).sorted(rows)
        return
    row_bytes = max(held_bytes / sum(batch.num_rows for batch in held), 1.0)
    # Half of what fits: ranges are never of quite the same size.
    count = min(int(2 * source.row_count * row_bytes / memory_bytes) + 2, _MOST_RANGES)
    chance = min(1.0, max(_LEAST_SAMPLES, _SAMPLES_PER_RANGE * count) / max(source.row_count, 1))
    sample = _sampled(source.read(order.names), chance, rng)
    fitted = order.fitted(sample)
    bounds = _bounds(np.sort(fitted.keys(sample)), count)
    with scratch_folder("paimonlab-sort-", folder) as scratch:
        paths = [Path(scratch, f"{number}.arrow") for number in range(len(bounds) + 1)]
        with failures_named(scratch), ExitStack() as stack:
            writers = [
                stack.enter_context(pa.ipc.new_stream(str(path), held[0].schema, options=_SPILL))
                for path in paths
            ]
            _divide(held, fitted, bounds, writers)
            held.clear()
            _divide(batches, fitted, bounds, writers)
        for path in paths:
            yield from _sorted_range(path, fitted, memory_bytes)
            path.unlink()


def _sampled(batches: Batches, chance: float, rng: np.random.Generator) -> pa.Table:
    """Take each row with a chance, at least one of each batch."""
    samples = []
    for batch in batches:
        is_taken = rng.random(batch.num_rows) < chance
        is_taken[rng.integers(batch.num_rows)] = True
        samples.append(batch.filter(arrow_array(is_taken)))
    return pa.Table.from_batches(samples)


def _bounds(keys: npt.NDArray[np.bytes_], count: int) -> npt.NDArray[np.bytes_]:
    """Choose the least keys of all ranges but the first, so that ranges have about one size."""
    places = np.linspace(0, len(keys), count + 1)[1:-1].astype(np.int64)
    return np.unique(keys[places])


def _divide(
    batches: Batches,
    order: FittedOrder,
    bounds: npt.NDArray[np.bytes_],
    writers: Sequence[pa.ipc.RecordBatchStreamWriter],
) -> None:
    for batch in batches:
        ranges = np.searchsorted(bounds, order.keys(batch), side="right")
        grouped = batch.take(arrow_array(np.argsort(ranges, kind="stable")))
        ends = np.cumsum(np.bincount(ranges, minlength=len(writers)))
        for number in np.unique(ranges).tolist():
            start = int(ends[number - 1]) if number else 0
            writers[number].write_batch(grouped.slice(start, int(ends[number]) - start))


def _sorted_range(path: Path, order: FittedOrder, memory_bytes: int) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    held_bytes = 0
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        for batch in reader:
            held.append(batch)
            held_bytes += batch.nbytes
            if held_bytes > memory_bytes:
                yield order.sorted(pa.Table.from_batches(held))
                held, held_bytes = [], 0
    if held:
        yield order.sorted(pa.Table.from_batches(held))
