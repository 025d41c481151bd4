"""Options that contradict each other, or what is in the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from paimonlab.analysis.health.actions import Action, set_option, shell
from paimonlab.analysis.health.measures import Measures
from paimonlab.analysis.health.report import Severity
from paimonlab.spec.plurals import many
from paimonlab.spec.sql_text.call_text import call_text


class Conflict(NamedTuple):
    """A contradiction of options."""

    options: str
    severity: Severity
    message: str
    measured: float
    unit: str
    action: Action


def conflicts(measures: Measures) -> Iterator[Conflict]:
    """Find all conflicts of a table."""
    for find in (_hidden_rows, _silent_changelog, _ignored_full_compaction, _buckets):
        yield from find(measures)


def _hidden_rows(measures: Measures) -> Iterator[Conflict]:
    hidden = measures.postponed_rows + (measures.level_0_rows if measures.skips_level_0 else 0)
    if hidden:
        option = "bucket" if measures.postponed_rows else "deletion-vectors.enabled, merge-engine"
        yield Conflict(
            option,
            "warning",
            f"{many(hidden, 'row')} cannot be seen by readers until they are compacted",
            hidden,
            "rows",
            _compact(measures),
        )


def _silent_changelog(measures: Measures) -> Iterator[Conflict]:
    producer = measures.options.get("changelog-producer", "none").lower()
    makes_none = _is_write_only(measures) and not measures.compact_snapshots
    if producer in {"lookup", "full-compaction"} and makes_none and measures.file_count:
        yield Conflict(
            "changelog-producer, write-only",
            "warning",
            f"compactions write the changelog ({producer}), but writers do not compact and no "
            "other commit did: readers of changes see nothing",
            measures.compact_snapshots,
            "compactions",
            _compact(measures),
        )


def _ignored_full_compaction(measures: Measures) -> Iterator[Conflict]:
    key = "full-compaction.delta-commits"
    if key in measures.options and _is_write_only(measures):
        yield Conflict(
            f"{key}, write-only",
            "info",
            f"{key} says when writers compact, and write-only that they never do",
            1,
            "options",
            set_option(measures.name, "write-only", "false"),
        )


def _buckets(measures: Measures) -> Iterator[Conflict]:
    if measures.rescaled_partitions and measures.bucket > 0:
        yield Conflict(
            "bucket",
            "warning",
            f"{measures.rescaled_partitions:,} partitions have another number of buckets than "
            f"{measures.bucket:,}: they can be read but not written to",
            measures.rescaled_partitions,
            "partitions",
            Action(
                python=f"table.maintenance.rescale(buckets={measures.bucket})",
                shell=shell("rescale", measures.name, "--buckets", str(measures.bucket)),
            ),
        )


def _compact(measures: Measures) -> Action:
    return Action(
        call_text("compact", measures.name),
        "table.compact(full=True)",
        shell("compact", measures.name, "--full"),
    )


def _is_write_only(measures: Measures) -> bool:
    return measures.options.get("write-only", "false").lower() == "true"
