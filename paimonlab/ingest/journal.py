"""What happened to a job: noted in memory, written with the next epoch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from paimonlab.clock import now_millis
from paimonlab.ingest.changes import JsonValue
from paimonlab.ingest.event_log import MOST_EVENTS, JobEvent

_MOST_BYTES = 16 << 10
"""Of a position in an event: that of a folder of files has each of them."""


@dataclass(kw_only=True)
class Journal:
    """Events and warnings of a run."""

    here: Callable[[], JsonValue]
    """Where the source is."""
    events: deque[JobEvent] = field(default_factory=lambda: deque(maxlen=MOST_EVENTS))
    unwritten: list[JobEvent] = field(default_factory=list)
    """Events that the notes of the job do not have yet."""
    warnings: list[str] = field(default_factory=list)

    def note(
        self,
        kind: str,
        table: str | None,
        text: str,
        position: JsonValue = None,
        *,
        before: tuple[str, ...] | None = None,
        after: tuple[str, ...] | None = None,
    ) -> None:
        """Note an event.

        Parameters
        ----------
        kind, table, text, before, after
            As in `JobEvent`.
        position
            None: where the source is. One that is long is left out.
        """
        where = self.here() if position is None else position
        if len(msgspec.json.encode(where)) > _MOST_BYTES:
            where = None
        event = JobEvent(
            at_millis=now_millis(),
            kind=kind,
            table=table,
            text=text,
            position=where,
            before=before,
            after=after,
        )
        self.events.append(event)
        self.unwritten.append(event)

    def warn(self, texts: Iterable[str]) -> None:
        """Note what is wrong and ends nothing."""
        for text in texts:
            self.warnings.append(text)
            self.note("warning", None, text)
