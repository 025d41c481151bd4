"""What follows a commit: consumers that stand still go, tags that are due are made.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.sink.TableCommitImpl.maintain``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab.spec.options import parse_boolean
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.auto_tags import AutoTagOptions
from paimonlab.table.consumers import ConsumerOptions
from paimonlab.table.tags import Tags

if TYPE_CHECKING:
    from paimonlab.table.parts import TableParts


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What a commit does beside committing: a `CommitCallback`."""

    parts: TableParts
    consumers_live_millis: int | None
    makes_tags: bool

    def __call__(self, _snapshot: Snapshot, _changes: pa.Table, /) -> None:
        """Do it."""
        if self.consumers_live_millis is not None:
            lifetime = timedelta(milliseconds=self.consumers_live_millis)
            self.parts.consumers.expire(datetime.now(UTC) - lifetime)
        if self.makes_tags:
            Tags(self.parts).create_due()


def after_commit(parts: TableParts) -> tuple[Upkeep, ...]:
    """Return what follows a commit; () if no option asks for anything, or others do it."""
    expiration = parts.options.slice(ConsumerOptions).expiration_millis
    makes_tags = parts.options.slice(AutoTagOptions).mode != "none"
    is_left_to_others = parse_boolean(parts.options.get("write-only", "false"))
    if is_left_to_others or (expiration is None and not makes_tags):
        return ()
    return (Upkeep(parts, expiration, makes_tags),)
