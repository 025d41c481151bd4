"""Show the streams of the session, and stop them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from paimonlab.notebook import running, views
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.streams.drawing import draw_streams

if TYPE_CHECKING:
    from paimonlab.notebook.running.streams import Stream

NEWEST_SHOWN = 10
CHARACTERS_SHOWN = 200
_ERROR_CHARACTERS = 1_000


def streams() -> views.View:
    """Show the streams of the connected session: those that run, and those that have ended."""
    session = connections.current().session("%paimon_streams")
    return draw_streams(_listed(running.streams.known_streams(session)), answer=_answer(None))


def stop_stream(name: str) -> views.View:
    """Stop a stream of the connected session, and show all.

    Parameters
    ----------
    name
        Its name, or the id of its run.

    Raises
    ------
    NotFoundError
        If there is no such stream.
    """
    running.streams.stop(connections.current().session("%paimon_streams"), name)
    return streams()


def one_stream(stream: Stream, *, view_id: str | None = None) -> Drawn[views.StreamList]:
    """Show one stream, and the newest rows if it has no table as its sink."""
    return draw_streams(_listed([stream]), answer=_answer(stream), view_id=view_id)


def _answer(stream: Stream | None) -> Any:
    """Answer the interactive form: stop what it names, and say how all are now."""
    session = connections.current().session("%paimon_streams")

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        if "stop" in request:
            running.streams.stop(session, str(request["stop"]))
        known = running.streams.known_streams(session) if stream is None else [stream]
        return {"view": msgspec.to_builtins(_listed(known))}

    return answer


def _listed(known: Sequence[Stream]) -> views.StreamList:
    newest = next((stream.newest for stream in known if stream.newest is not None), None)
    listed = views.StreamList(
        streams=tuple(_entry(stream) for stream in known),
        newest=None if newest is None or len(known) != 1 else _rows(newest),
    )
    return views.repeatable_streams(listed) if is_deterministic() else listed


def _entry(stream: Stream) -> views.StreamEntry:
    facts = stream.facts()
    return views.StreamEntry(
        id=stream.id,
        name=stream.name,
        source=stream.source,
        sink=stream.sink,
        state=stream.state,
        error=None if stream.error is None else stream.error[:_ERROR_CHARACTERS],
        batch=facts.batch,
        rows=facts.rows,
        rows_per_second=facts.rows_per_second,
        snapshots_behind=facts.snapshots_behind,
        millis_behind=facts.millis_behind,
        state_rows=facts.state_rows,
        state_bytes=facts.state_bytes,
        watermark=facts.watermark,
    )


def _rows(table: pa.Table) -> views.StreamRows:
    shown = table.slice(max(0, table.num_rows - NEWEST_SHOWN))
    columns = [column.to_pylist() for column in shown.columns]
    return views.StreamRows(
        columns=tuple(shown.column_names),
        rows=tuple(
            tuple("NULL" if value is None else str(value)[:CHARACTERS_SHOWN] for value in row)
            for row in zip(*columns, strict=True)
        ),
    )
