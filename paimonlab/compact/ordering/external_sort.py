"""Sorting more rows than fit into memory.

Rows are divided into ranges by bounds that a sample of them suggests, the ranges are kept in
temporary files, and each is sorted by itself. Order matters for speed here, not for correctness: a
range that is too large for memory is sorted in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimonlab.compact.ordering.ranges import Ranges, sampled
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
    ranges = Ranges.of(order, sample, count)
    with scratch_folder("paimonlab-sort-", folder) as scratch:
        paths = [Path(scratch, f"{number}.arrow") for number in range(ranges.count)]
        with failures_named(scratch), ExitStack() as stack:
            writers = [
                stack.enter_context(pa.ipc.new_stream(str(path), held[0].schema, options=_SPILL))
                for path in paths
            ]
            for batch in _emptied(held, batches):
                for number, rows in ranges.divided(batch):
                    writers[number].write_batch(rows)
        for path in paths:
            yield from _sorted_range(path, ranges.order, memory_bytes)
            path.unlink()


def sorted_stream(
    batches: Batches, order: RowOrder, *, memory_bytes: int, rng: np.random.Generator
) -> Generator[pa.Table, None, None]:
    """Yield rows in order that can be read only once; see `sorted_rows`.

    More than fit into memory are kept in a temporary file first.
    """
    held: list[pa.RecordBatch] = []
    held_bytes = 0
    stream = iter(batches)
    for batch in stream:
        held.append(batch)
        held_bytes += batch.nbytes
        if held_bytes > memory_bytes:
            break
    else:
        again = RowSource(
            read=lambda names: (b if names is None else b.select(list(names)) for b in held),
            row_count=sum(batch.num_rows for batch in held),
        )
        yield from sorted_rows(again, order, memory_bytes=memory_bytes, rng=rng)
        return
    with scratch_folder("paimonlab-sort-", None) as scratch:
        path = Path(scratch, "rows.arrow")
        row_count = 0
        with (
            failures_named(scratch),
            pa.ipc.new_stream(str(path), held[0].schema, options=_SPILL) as writer,
        ):
            for batch in _emptied(held, stream):
                writer.write_batch(batch)
                row_count += batch.num_rows
        source = RowSource(read=partial(_read_again, path), row_count=row_count)
        yield from sorted_rows(source, order, memory_bytes=memory_bytes, rng=rng)


def _emptied(held: list[pa.RecordBatch], others: Batches) -> Iterator[pa.RecordBatch]:
    """Yield batches, and forget them."""
    held.reverse()
    while held:
        yield held.pop()
    yield from others


def _read_again(path: Path, names: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        for batch in reader:
            yield batch if names is None else batch.select(list(names))


def _sampled(batches: Batches, chance: float, rng: np.random.Generator) -> pa.Table:
    return pa.Table.from_batches(list(sampled(batches, chance, rng)))


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
