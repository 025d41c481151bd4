"""How far a follower came, kept with the table under the name of a consumer.

Source: apache/paimon@1.3.1 ``org.apache.paimon.consumer.ConsumerManager`` and
``org.apache.paimon.table.source.DataTableStreamScan``, ``notifyCheckpointComplete``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.metadata.consumers import ConsumerManager
from paimonlab.scan.following import Position


@dataclass
class ConsumerProgress:
    """Writes the snapshot that is read next, whenever it is another one."""

    consumers: ConsumerManager
    name: str
    refresh_millis: int | None
    """How old the file may become while nothing happens; None: as old as it likes."""
    written: int | None = None
    """The snapshot that was written last."""
    written_millis: int = 0

    def record(self, position: Position, now_millis: int) -> None:
        """Keep the progress of a reader that has dealt with all rows up to a position.

        A snapshot counts when all its rows were dealt with. Before all rows of the first one
        were, there is nothing to write: who goes on reads changes only.
        """
        if position.is_full or position.snapshot_id == 0:
            return
        is_old = (
            self.refresh_millis is not None
            and now_millis - self.written_millis >= self.refresh_millis
        )
        if position.snapshot_id == self.written and not is_old:
            return
        self.consumers.reset(self.name, position.snapshot_id)
        self.written, self.written_millis = position.snapshot_id, now_millis
