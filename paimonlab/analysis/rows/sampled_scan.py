"""The read of some files of a table that stand for all."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from paimonlab.scan.sampling import FileSample
from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.scan_kinds import OfCondition, OfSnapshot, ScanKind


def sampled_scan(scan: Scan, *, most_files: int, most_bytes: int) -> Scan:
    """Return the read of files that are spread over all partitions and buckets.

    Reads of changes and of two branches are returned as they are.

    Parameters
    ----------
    scan
        What would be read.
    most_files, most_bytes
        How much of it is read; files that have to be read together are, whatever they are.
    """
    return replace(scan, kind=_sampled(scan.kind, FileSample(most_files, most_bytes)))


def _sampled(kind: ScanKind, sample: FileSample) -> ScanKind:
    if isinstance(kind, OfSnapshot):
        return structs.replace(kind, sample=sample)
    if isinstance(kind, OfCondition):
        inner = kind.inner
        return structs.replace(kind, inner=replace(inner, kind=_sampled(inner.kind, sample)))
    return kind
