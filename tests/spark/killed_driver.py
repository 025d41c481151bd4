"""A driver that kills itself at a moment of a commit; run as a program.

Arguments: a warehouse, a statement, the moment, a number: ``before`` the snapshot of this number is
published, ``between`` that and the hint at it, ``after`` both.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from paimonlab.commit.publisher import RenamelessPublisher
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spark import connect
from paimonlab.spec.snapshot import Snapshot
from tests.spark.interpreting import INTERPRETED
from tools import short_java

CONF = {**INTERPRETED, "spark.driver.extraJavaOptions": short_java.spark_options()}


def die() -> None:
    """End this process and all that it started, at once."""
    os.killpg(os.getpgid(0), signal.SIGKILL)


def main(warehouse: str, sql: str, moment: str, snapshot_id: str) -> None:
    """Run the statement, and do not come back."""
    publish, wanted = RenamelessPublisher.publish, int(snapshot_id)

    def killed(self: RenamelessPublisher, snapshot: Snapshot) -> bool:
        if snapshot.id == wanted and moment == "before":
            die()
        done = publish(self, snapshot)
        if snapshot.id == wanted and moment == "between":
            die()
        return done

    setattr(RenamelessPublisher, "publish", killed)  # noqa: B010 - a method of a class
    if moment == "after":
        kill_after_hint(wanted)
    spark: Any = connect(warehouse, master="local[2]", memory="512m", conf=CONF)
    spark.sql(sql).collect()
    print("the commit was not reached")  # noqa: T201


def kill_after_hint(wanted: int) -> None:
    """Let the process end when the hint at a snapshot is written."""
    hint = SnapshotManager.write_latest_hint

    def killed(self: SnapshotManager, snapshot_id: int) -> None:
        hint(self, snapshot_id)
        if snapshot_id == wanted:
            die()

    setattr(SnapshotManager, "write_latest_hint", killed)  # noqa: B010


if __name__ == "__main__":
    main(*sys.argv[1:])
