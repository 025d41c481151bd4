"""``$branches`` and ``$consumers``: who else goes by the snapshots of a table.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.BranchesTable``, ``ConsumersTable``.
"""

from __future__ import annotations

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO, FileStatus
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.system.history import local_time

_BRANCH = "branch-"

BRANCHES = pa.schema(
    [
        pa.field("branch_name", pa.string(), nullable=False),
        pa.field("create_time", pa.timestamp("ms"), nullable=False),
    ]
)
CONSUMERS = pa.schema(
    [
        pa.field("consumer_id", pa.string(), nullable=False),
        pa.field("next_snapshot_id", pa.int64(), nullable=False),
    ]
)


def branches(
    _definition: TableDefinition, store: TableStore, _snapshot: Snapshot | None
) -> pa.Table:
    """``$branches``: a row for each branch except main, by name, with the time it was created."""
    folders = _listed(store.layout.branches_folder, store.file_io)
    return pa.table(
        {
            "branch_name": arrow_array(list(folders), pa.string()),
            "create_time": arrow_array(
                [local_time(status.modified_millis) for status in folders.values()],
                pa.timestamp("ms"),
            ),
        },
        schema=BRANCHES,
    )


def consumers(
    _definition: TableDefinition, store: TableStore, _snapshot: Snapshot | None
) -> pa.Table:
    """``$consumers``: one row per consumer, and the snapshot it reads next."""
    by_name = store.consumers.list()
    columns = [arrow_array([*by_name], pa.string()), arrow_array([*by_name.values()], pa.int64())]
    return pa.Table.from_arrays(columns, schema=CONSUMERS)


def _listed(folder: str, file_io: FileIO) -> dict[str, FileStatus]:
    """Find the folders of branches by their names, sorted."""
    entries = file_io.list(folder)
    named = {status.path.rpartition("/")[2]: status for status in entries}
    return {
        name.removeprefix(_BRANCH): named[name]
        for name in sorted(named)
        if name.startswith(_BRANCH) and name != _BRANCH
    }
