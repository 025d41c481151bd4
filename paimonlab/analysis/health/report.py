"""What could be better about how a table is maintained, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from paimonlab.analysis.row_words import BEFORE_MERGING

Severity: TypeAlias = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""The worst first."""


class HealthFinding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that could be better."""

    code: str
    """Stays the same from version to version: ``small-files``."""
    severity: Severity
    """An error loses rows or readers; a warning costs time or space; the rest is good to know."""
    message: str
    measured: float | None
    """None when what differs from run to run is hidden."""
    threshold: float
    """What ``measured`` is compared with, of the same unit."""
    unit: str
    where: str = ""
    """Partition, bucket, snapshot or consumer; empty: the whole table."""
    sql: str = ""
    """What to run with Spark; empty if there is no statement for it."""
    python: str = ""
    """The same in Python, with ``catalog`` and ``table``."""
    shell: str = ""
    """The same for a shell, of the warehouse that is configured; empty if there is no command."""


class TableHealth(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How well one table is maintained."""

    table: str
    snapshot_id: int | None
    """The latest snapshot; None for a table that nothing was written to."""
    file_count: int
    total_bytes: int | None
    """Of live data files; None when sizes are hidden."""
    record_count: int
    """Over all live data files before merging: not the rows of the table."""
    snapshot_count: int
    manifest_count: int
    level_0_files: int
    findings: tuple[HealthFinding, ...]
    """The worst first."""
    looked_for_orphans: bool = False
    rows_are: str = BEFORE_MERGING
    """What the rows of files are, as `rows_are` says it."""
    problem: str = ""
    """Why the table could not be looked at; empty: it was."""

    @property
    def worst(self) -> str:
        """The severity of the worst finding; ``ok`` if there is none."""
        if self.problem:
            return "error"
        return worst(finding.severity for finding in self.findings)


def worst(severities: Iterable[str]) -> str:
    """Return the worst of severities; ``ok`` if there is none."""
    present = set(severities)
    return next((severity for severity in SEVERITIES if severity in present), "ok")


def unreadable(table: str, error: Exception) -> TableHealth:
    """Report that a table could not be read."""
    return msgspec.structs.replace(nothing_of(table), problem=str(error))


def nothing_of(table: str) -> TableHealth:
    """Return a report of a table of which there is nothing to look at."""
    return TableHealth(
        table=table,
        snapshot_id=None,
        file_count=0,
        total_bytes=0,
        record_count=0,
        snapshot_count=0,
        manifest_count=0,
        level_0_files=0,
        findings=(),
    )
