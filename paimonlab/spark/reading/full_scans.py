"""``spark.paimon.read.allow.fullScan`` = ``false``: a query has to leave out some files.

Source: apache/paimon@1.4.2 ``org.apache.paimon.spark.PaimonBaseScan.ensureNoFullScan``.
"""

from __future__ import annotations

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.reading.scan import SnapshotScan
from paimonlab.spark.session_options import FULL_SCAN, PREFIX
from paimonlab.spec.options.grammar import parse_boolean
from paimonlab.spec.predicates.predicate import Predicate

_SETTING = PREFIX + FULL_SCAN


def check_full_scan(bridge: Bridge, snapshot: SnapshotScan, predicate: Predicate) -> None:
    """Check that a query of a partitioned table may read all files, or does not.

    Parameters
    ----------
    bridge
        The session.
    snapshot
        What is read.
    predicate
        What rows have to be.

    Raises
    ------
    UnsupportedError
        If the session does not allow it and the predicate rules no file out.
    """
    keys = snapshot.scan.schema.partition_keys
    if not keys or parse_boolean(str(bridge.conf.getConfString(_SETTING, "true"))):
        return
    if snapshot.reads_all_files(predicate):
        raise UnsupportedError(
            f"a full scan of {snapshot.scan.definition.name} with {_SETTING} = 'false'",
            f"say which partitions are read: WHERE {keys[0]} = …",
        )
