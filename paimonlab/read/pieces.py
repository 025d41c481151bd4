"""Changes in pieces of bounded size, and where each piece ends, so that reading can go on there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

import pyarrow as pa

from paimonlab.read.changed_rows import change_schema, read_change_split
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.change_splits import ChangeSplit, Fate
from paimonlab.storage import FileIO

_PIECE_BYTES = 64 << 20


class Piece(NamedTuple):
    """Some changes, and where the next ones are."""

    rows: pa.Table
    """Of `change_schema`, not empty."""
    split: int
    """Number of the split that the next rows are of."""
    done: int
    """Rows of that split that are in this piece or in pieces before."""


def read_pieces(
    splits: Sequence[ChangeSplit],
    plan: ReadPlan,
    file_io: FileIO,
    *,
    split: int = 0,
    done: int = 0,
) -> Iterator[Piece]:
    """Read splits one after the other.

    Parameters
    ----------
    splits, plan
        As planned; the same ones whenever reading goes on.
    file_io
        The table's store.
    split, done
        Where the last piece ended; by default reading begins at the first row.

    Notes
    -----
    A piece has about ``plan.bounds.batch_rows`` rows, or 64 MiB: small files come together.
    """
    schema = change_schema(plan)
    waiting: list[pa.RecordBatch] = []
    for number in range(split, len(splits)):
        skipped = done if number == split else 0
        position = 0
        for batch in read_change_split(splits[number], plan, file_io):
            position += batch.num_rows
            if position <= skipped:
                continue
            waiting.append(batch.slice(max(0, batch.num_rows - (position - skipped))))
            if _is_enough(waiting, plan.bounds.batch_rows):
                yield Piece(pa.Table.from_batches(waiting, schema), number, position)
                waiting = []
    if waiting:
        yield Piece(pa.Table.from_batches(waiting, schema), len(splits), 0)


def fingerprint(splits: Sequence[ChangeSplit], plan: ReadPlan) -> str:
    """Tell which rows splits give, in which order: files and condition, as 16 hex digits."""
    digest = blake2b(repr(plan.predicate).encode(), digest_size=8)
    for split in splits:
        for side in (split.before, split.after):
            names = () if side is None else [file.file_name for file in side.files]
            digest.update("\n".join(["", *names, ""]).encode())
        if split.fate is not Fate.ANY:
            digest.update(split.fate.value.encode())
    return digest.hexdigest()


def _is_enough(batches: Sequence[pa.RecordBatch], rows: int) -> bool:
    if sum(batch.num_rows for batch in batches) >= rows:
        return True
    return sum(batch.nbytes for batch in batches) >= _PIECE_BYTES
