"""Streams that run or have ended."""

from __future__ import annotations

import msgspec

from paimonlab.notebook.cell.stream_statement import StreamState


class StreamEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One stream; what is not known is None."""

    id: str
    """The id of the run."""
    name: str
    source: str
    """The tables that it reads."""
    sink: str
    state: StreamState
    batch: int | None
    """The number of the last batch that had rows."""
    rows: int | None
    """Rows of that batch."""
    rows_per_second: float | None
    snapshots_behind: int | None
    """Snapshots that the last batch did not read; of several sources, the most."""
    millis_behind: int | None
    """How much older the newest snapshot that was read is than the newest there is."""
    state_rows: int | None
    """Rows that the stream remembers between batches."""
    state_bytes: int | None
    watermark: str | None
    error: str | None


class StreamRows(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The newest rows of a stream that has no table as its sink, as text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class StreamList(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="streams", tag_field="kind"
):
    """Streams, the newest last."""

    streams: tuple[StreamEntry, ...]
    newest: StreamRows | None = None


def repeatable_streams(listed: StreamList) -> StreamList:
    """Leave out what differs from run to run."""
    entries = [
        msgspec.structs.replace(
            entry,
            id=str(number),
            rows_per_second=None,
            millis_behind=None,
            state_bytes=None,
        )
        for number, entry in enumerate(listed.streams, start=1)
    ]
    return msgspec.structs.replace(listed, streams=tuple(entries))
