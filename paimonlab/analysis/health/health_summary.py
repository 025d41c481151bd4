"""How well tables are maintained, for display."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from paimonlab.analysis.health.report import SEVERITIES, HealthFinding, TableHealth, worst

_NUMBER = re.compile(r"\d[\d,.]*")
_DIFFERS = frozenset(
    {
        *("bucket-skew", "orphan-files", "clock-jump", "consumer-blocks-expiry"),
        *("ingest-lag", "ingest-idle", "ingest-failed", "ingest-stalled"),
    }
)
"""Codes whose numbers differ from run to run."""


class Health(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="health", tag_field="kind"
):
    """What was found about the tables of a catalog, or about one."""

    title: str
    tables: tuple[TableHealth, ...]
    worst: str
    """Severity of the worst finding; ``ok`` if there is none."""
    looked_for_orphans: bool


def health(title: str, tables: Sequence[TableHealth], *, orphans: bool) -> Health:
    """Put tables together, those with the worst findings first."""
    order = {severity: rank for rank, severity in enumerate((*SEVERITIES, "ok"))}
    shown = sorted(tables, key=lambda table: (order[table.worst], table.table))
    return Health(
        title=title,
        tables=tuple(shown),
        worst=worst(table.worst for table in tables),
        looked_for_orphans=orphans,
    )


def repeatable_health(health: Health) -> Health:
    """Leave out what differs from run to run: sizes, and how long ago something was."""
    tables = [
        msgspec.structs.replace(
            table, total_bytes=None, findings=tuple(map(_repeatable, table.findings))
        )
        for table in health.tables
    ]
    return msgspec.structs.replace(health, tables=tuple(tables))


def _repeatable(finding: HealthFinding) -> HealthFinding:
    if finding.code not in _DIFFERS:
        return finding
    message = _NUMBER.sub("…", finding.message)
    return msgspec.structs.replace(finding, message=message, measured=None)
