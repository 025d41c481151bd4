"""The files of a bucket as bars: where each lies, and which are drawn as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.analysis.buckets.bucket_lives import Lives
from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.scan.key_ranges import key_ranks
from paimonlab.spec.manifests.data_file import FileSource
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.table.texts import key_text

_KEY_CHARACTERS = 60
_SOURCES = {int(source): source.name for source in FileSource}

Ranks = npt.NDArray[np.int64]


class LsmFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A data file on one level, or neighbours on a level that are drawn as one bar."""

    name: str
    """Of the first one, if they are several."""
    count: int
    """Files in the bar."""
    level: int
    low: int
    """Place of the smallest key on the axis."""
    high: int
    """Place of the greatest key, not before ``low``."""
    bytes: int | None
    """None when sizes are hidden."""
    rows: int
    deletes: int | None
    """Rows of kind -U and -D; None: unknown."""
    hidden: int | None
    """Rows that a deletion vector hides now; None: unknown."""
    born: int
    """Index of the first step with the file."""
    died: int
    """Index of the first step without it; the number of steps if it is alive."""
    min_key: str
    """As ``$files`` shows it, truncated if it is long; "" in an append table."""
    max_key: str
    min_sequence: int
    max_sequence: int
    schema_id: int
    source: str
    """``APPEND``, ``COMPACT``, or "" if unknown."""
    created_millis: int | None
    """Local wall clock of the writer, as if it were UTC."""


def shown_lives(history: Lives, most: int) -> tuple[Lives, int]:
    """Leave out the oldest changes until the others add or remove at most ``most`` files.

    Returns
    -------
    Lives
        With the remaining steps.
    int
        How many were left out.
    """
    last = history.last
    for state in range(last + 1):
        changes = (history.born > state) | ((history.died <= last) & (history.died > state))
        if np.count_nonzero(changes) <= most or state == last:
            return history.since(state), state
    raise AssertionError("the last state has no changes")


def files_shown(
    history: Lives, schema: TableSchema, vectors: Mapping[str, int | None], most: int
) -> tuple[tuple[LsmFile, ...], int]:
    """Describe the files of a bucket, and the length of the axis that they are placed on.

    Parameters
    ----------
    history
        The files.
    schema
        The table's schema.
    vectors
        Rows that deletion vectors hide, by the name of the data file.
    most
        Roughly how many bars there may be: files that are alive in all steps are put together
        with their neighbours on the level.
    """
    files = history.files
    has_levels = bool(schema.primary_keys)
    low, high = _places(files, schema) if has_levels else _one_after_the_other(files)
    order = _newest_first(files, low, has_levels=has_levels)
    groups = _groups(history, order, low, most)
    firsts = [group[0] for group in groups]
    lasts = [max(group, key=lambda row: (int(high[row]), row)) for group in groups]
    fields = [schema.field(name) for name in schema.trimmed_primary_keys]
    smallest = _key_texts(files.column("min_key").take(arrow_array(firsts, pa.int64())), fields)
    greatest = _key_texts(files.column("max_key").take(arrow_array(lasts, pa.int64())), fields)
    columns = {
        name: numpy_values(files.column(name), zero_copy_only=False)
        for name in ("file_size_bytes", "row_count", "level", "schema_id")
    } | {
        "min_sequence": numpy_values(files.column("min_sequence_number"), zero_copy_only=False),
        "max_sequence": numpy_values(files.column("max_sequence_number"), zero_copy_only=False),
    }
    bars = []
    for group, min_key, max_key in zip(groups, smallest, greatest, strict=True):
        rows = np.array(group)
        picked = files.select(
            ["file_name", "delete_row_count", "file_source", "creation_time_millis"]
        ).take(arrow_array(group, pa.int64()))
        names = picked["file_name"].to_pylist()
        deletes = picked["delete_row_count"].to_pylist()
        hidden = [vectors.get(name, 0) for name in names]
        sources = {_SOURCES.get(source, "") for source in picked["file_source"].to_pylist()}
        times = picked["creation_time_millis"].to_pylist()
        bars.append(
            LsmFile(
                name=names[0],
                count=len(group),
                level=int(columns["level"][group[0]]),
                low=int(low[rows].min()),
                high=int(high[rows].max()),
                bytes=int(columns["file_size_bytes"][rows].sum()),
                rows=int(columns["row_count"][rows].sum()),
                deletes=_sum(deletes),
                hidden=_sum(hidden),
                born=int(history.born[group[0]]),
                died=int(history.died[group[0]]),
                min_key=min_key,
                max_key=max_key,
                min_sequence=int(columns["min_sequence"][rows].min()),
                max_sequence=int(columns["max_sequence"][rows].max()),
                schema_id=int(columns["schema_id"][rows].max()),
                source=sources.pop() if len(sources) == 1 else "",
                created_millis=max((time for time in times if time is not None), default=None),
            )
        )
    return tuple(bars), int(high.max()) + 1 if high.size else 0


def _places(files: pa.Table, schema: TableSchema) -> tuple[Ranks, Ranks]:
    types = [schema.field(name).type for name in schema.trimmed_primary_keys]
    return key_ranks(files["min_key"], files["max_key"], types)


def _one_after_the_other(files: pa.Table) -> tuple[Ranks, Ranks]:
    """Place the files of an append table in the order in which their rows were written."""
    first = numpy_values(files["first_row_id"].fill_null(-1))
    sequence = numpy_values(files["min_sequence_number"])
    created = numpy_values(null_filled(files["creation_time_millis"], 0))
    order = np.lexsort((created, sequence, first))
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size)
    return ranks, ranks


def _newest_first(files: pa.Table, low: Ranks, *, has_levels: bool) -> list[int]:
    """Order files by run: level 0 newest first, other levels by key; without levels by place."""
    level = numpy_values(files["level"])
    if not has_levels:
        by_place: list[int] = np.lexsort((low, level)).tolist()
        return by_place
    newest = -numpy_values(files["max_sequence_number"])
    oldest = numpy_values(files["min_sequence_number"])
    created = numpy_values(null_filled(files["creation_time_millis"], 0))
    names = np.array(files["file_name"].to_pylist(), np.str_)
    within = [np.where(level == 0, part, low) for part in (newest, oldest, created)]
    ordered: list[int] = np.lexsort((names, *reversed(within), level)).tolist()
    return ordered


def _groups(history: Lives, order: Sequence[int], low: Ranks, most: int) -> list[list[int]]:
    """Put files that are alive in all steps together until there are few enough bars."""
    if len(order) <= most:
        return [[row] for row in order]
    stays = (history.born == 0) & (history.died > history.last)
    level = numpy_values(history.files["level"])
    staying = [row for row in order if stays[row]]
    room = max(most - (len(order) - len(staying)), 1)
    size = -(-len(staying) // room)
    groups: list[list[int]] = []
    opened: dict[int, list[int]] = {}
    for row in order:
        group = opened.get(int(level[row]))
        if not stays[row]:
            groups.append([row])
        elif group is not None and len(group) < size:
            group.append(row)
        else:
            groups.append([row])
            opened[int(level[row])] = groups[-1]
    for group in groups:
        group.sort(key=lambda row: int(low[row]))
    return groups


def _key_texts(rows: pa.ChunkedArray, fields: Sequence[object]) -> list[str]:
    texts = key_text(rows.combine_chunks(), fields)  # type: ignore[arg-type]
    return [_cut(text or "") for text in texts.to_pylist()]


def _cut(text: str) -> str:
    return text if len(text) <= _KEY_CHARACTERS else f"{text[:_KEY_CHARACTERS]}…"


def _sum(counts: Sequence[int | None]) -> int | None:
    return None if None in counts else sum(count or 0 for count in counts)
