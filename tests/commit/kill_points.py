"""Commits in processes that die at the n-th call of the store, for every n.

Run as a program of its own: it forks before any thread has started.
Arguments: a folder with the table ``before``, and the operation. Leaves copies of the table,
``1``, ``2``, …, as the dying processes left them.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from paimonlab.commit.options import CommitOptions
from paimonlab.commit.scope import OverwriteScope
from tests.fault_io import Fault, FaultFileIO
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


def _load_what_it_takes(folder: Path, operation: str) -> None:
    """Load all modules of a commit here, once, and not in every process.

    Which they are, a process says that commits; here that would start threads.
    """
    reading, writing = os.pipe()
    if os.fork() == 0:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch, "whole")
            shutil.copytree(folder / "before", path)
            commit(SmallTable(path), operation)
        with os.fdopen(writing, "w") as out:
            out.write(" ".join(sys.modules))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        names = told.read().split()
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 0, "a commit fails by itself"
    for name in names:
        if name not in sys.modules:
            importlib.import_module(name)


def main(folder: Path, operation: str) -> None:
    """Kill at every call, before and after it has its effect, until a commit gets through."""
    _load_what_it_takes(folder, operation)
    for after in (False, True):
        number, status = 0, 9
        while status == 9:
            number += 1
            status = _die_at(number, folder, operation, after=after)
        assert status == 0, f"the commit failed by itself, status {status}"
        print(number - 1)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
