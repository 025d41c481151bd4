"""Commits in processes that die at the n-th call of the store, for every n.

Run as a program of its own: it forks before any thread has started.
Arguments: a folder with the table ``before``, and the operation. Leaves copies of the table,
``1``, ``2``, …, as the dying processes left them.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from paimonlab.commit.options import CommitOptions
from paimonlab.commit.scope import OverwriteScope
from tests.fault_io import Fault, FaultFileIO
from tests.preloading import load_what_it_takes
from tests.small_tables import UNSYNCED, SmallTable

USER = "killed"


def commit(table: SmallTable, operation: str) -> None:
    """Append or overwrite, merging manifests on the way."""
    table.commit_options = CommitOptions(manifest_merge_min_count=3)
    messages = [table.message("new1", "new2", total_buckets=1)]
    if operation == "append":
        table.committer.append(messages, user=USER, identifier=1)
    else:
        table.committer.overwrite(
            messages, scope=OverwriteScope.whole_table(), user=USER, identifier=1
        )


def _die_at(number: int, folder: Path, operation: str, *, after: bool) -> int:
    path = folder / f"{number}{'-after' if after else ''}"
    shutil.copytree(folder / "before", path)
    child = os.fork()
    if child == 0:
        file_io = FaultFileIO(UNSYNCED, Fault("kill", at=number, after=after))
        commit(SmallTable(path, file_io=file_io), operation)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _commit_elsewhere(folder: Path, operation: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "whole")
        shutil.copytree(folder / "before", path)
        commit(SmallTable(path), operation)


def main(folder: Path, operation: str) -> None:
    """Kill at every call, before and after it has its effect, until a commit gets through."""
    load_what_it_takes(lambda: _commit_elsewhere(folder, operation))
    for after in (False, True):
        number, status = 0, 9
        while status == 9:
            number += 1
            status = _die_at(number, folder, operation, after=after)
        assert status == 0, f"the commit failed by itself, status {status}"
        print(number - 1)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
