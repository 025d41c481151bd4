"""What consumers hold back: snapshots and changelogs that they have not read.

Source: apache/paimon@1.3.1 ``org.apache.paimon.consumer.ConsumerManager.minNextSnapshot``. Java
asks once; here it is asked again right before something is deleted.
"""

from __future__ import annotations

from paimonlab.metadata.consumers import ConsumerManager


def next_read(consumers: ConsumerManager) -> tuple[str, int] | None:
    """Return the consumer that is furthest behind, and the snapshot it reads next."""
    return min(consumers.list().items(), key=lambda one: one[1], default=None)


def held_by(consumers: ConsumerManager, first_kept: int) -> str | None:
    """Return a consumer that still has to read something before a snapshot, or None."""
    found = next_read(consumers)
    return found[0] if found is not None and found[1] < first_kept else None
