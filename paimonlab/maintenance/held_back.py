"""What consumers hold back: snapshots and changelogs that they have not read.

Source: apache/paimon@1.3.1 ``org.apache.paimon.consumer.ConsumerManager.minNextSnapshot``. Java
asks once; here it is asked again right before something is deleted.
"""

from __future__ import annotations

from paimonlab.metadata.consumers import ConsumerManager


def next_read(consumers: ConsumerManager) -> tuple[str, int] | None:
    """Return the consumer that is furthest behind, and the snapshot it reads next."""
    return min(consumers.list().items(), key=lambda consumer: consumer[1], default=None)


def held_by(consumers: ConsumerManager, first_kept: int) -> str | None:
    """Return a consumer that still has to read something before a snapshot, or None."""
    name, next_id = next_read(consumers) or (None, first_kept)
    return name if next_id < first_kept else None
