"""What a check of every file of a table found, for display."""

from __future__ import annotations

import msgspec

from paimonlab.maintenance.fsck.report import Finding, FsckReport

MOST_FINDINGS = 100
"""Of more, the first are listed."""


class Fsck(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="fsck", tag_field="kind"):
    """The findings of one table, and in words how much was checked."""

    table: str
    summary: str
    findings: tuple[Finding, ...]
    """The first `MOST_FINDINGS`."""


def fsck(report: FsckReport) -> Fsck:
    """Take from a report what is shown."""
    summary = report.summary
    if len(report.findings) > MOST_FINDINGS:
        summary += f"; the first {MOST_FINDINGS:,} are listed, to_arrow() has all"
    return Fsck(table=report.table, summary=summary, findings=report.findings[:MOST_FINDINGS])
