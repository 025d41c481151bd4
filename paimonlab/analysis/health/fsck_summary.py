"""What a check of every file of a table found, for display."""

from __future__ import annotations

import msgspec

from paimonlab.maintenance.fsck.report import Finding, FsckReport


class Fsck(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="fsck", tag_field="kind"):
    """The findings of one table, and in words how much was checked."""

    table: str
    summary: str
    findings: tuple[Finding, ...]


def fsck(report: FsckReport) -> Fsck:
    """Take from a report what is shown."""
    summary = str(report).splitlines()[0]
    return Fsck(table=report.table, summary=summary, findings=report.findings)
