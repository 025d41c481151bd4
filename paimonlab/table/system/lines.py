"""``$branches`` and ``$consumers``: who else goes by the snapshots of a table.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.BranchesTable``, ``ConsumersTable``.
"""

from __future__ import annotations

import msgspec
import pyarrow as pa

from paimonlab.errors import CorruptMetadataError
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileStatus, join
from paimonlab.table.parts import TableParts
from paimonlab.table.system.history import local_time

_BRANCH = "branch-"
_CONSUMER = "consumer-"

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


class _Consumer(msgspec.Struct, rename="camel"):
    next_snapshot: int


def branches(parts: TableParts, snapshot: Snapshot | None) -> pa.Table:  # noqa: ARG001
    """``$branches``: one row a branch but the main one, by name; since when its folder is there."""
    found = _listed(parts, "branch", _BRANCH)
    return pa.table(
        {
            "branch_name": pa.array(list(found), pa.string()),
            "create_time": pa.array(
                [local_time(status.modified_millis) for status in found.values()],
                pa.timestamp("ms"),
            ),
        },
        schema=BRANCHES,
    )


def consumers(parts: TableParts, snapshot: Snapshot | None) -> pa.Table:  # noqa: ARG001
    """``$consumers``: one row a consumer, and the snapshot it reads next."""
    found = _listed(parts, "consumer", _CONSUMER)
    following = [_next_snapshot(parts, status.path) for status in found.values()]
    columns = [pa.array(list(found), pa.string()), pa.array(following, pa.int64())]
    return pa.Table.from_arrays(columns, schema=CONSUMERS)


def _listed(parts: TableParts, folder: str, prefix: str) -> dict[str, FileStatus]:
    """Find the files or folders with a prefix by the rest of their names, sorted."""
    found = parts.file_io.list(join(parts.layout.table_path, folder))
    named = {status.path.rpartition("/")[2]: status for status in found}
    return {
        name.removeprefix(prefix): named[name]
        for name in sorted(named)
        if name.startswith(prefix) and name != prefix
    }


def _next_snapshot(parts: TableParts, path: str) -> int:
    try:
        return msgspec.json.decode(parts.file_io.read(path), type=_Consumer).next_snapshot
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CorruptMetadataError(path, str(error)) from error
