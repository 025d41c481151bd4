"""What a compaction is asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from msgspec import Struct

from paimonlab.progress import Progress
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.workers import Workers, side_by_side


class CompactRequest(Struct, frozen=True, kw_only=True):
    """Which buckets are to be compacted, and how; see `Table.compact` for each field."""

    full: bool = False
    """Whether everything goes to the highest level; else what the table's options ask for."""
    partitions: Sequence[Mapping[str, Any]] | None = None
    buckets: Collection[int] | None = None
    where: str | Predicate | None = None
    idle_for: timedelta | None = None
    order_by: Sequence[str] | None = None
    strategy: str | None = None
    """``order``, ``zorder`` or ``hilbert``."""
    progress: Progress | None = None
    dry_run: bool = False
    reports: bool = True
    """Whether a changelog producer's rows are kept; an overwrite, and what follows it, has none."""
    workers: Workers = side_by_side
    """What rewrites files; threads of this process unless an engine has executors."""
