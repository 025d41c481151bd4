"""Tables whose rows are changed in the tests here, and others who change them meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.commit.committer import Committer
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.inside import definition_of, store_of, with_definition
from paimonlab.table.table import Table

VECTORS = {"deletion-vectors.enabled": "true"}
BUCKETS = {"bucket": "2", "bucket-key": "k"}
COLUMNS = {"k": "INT NOT NULL", "v": "STRING"}


def new_table(
    path: Path,
    options: Mapping[str, str],
    columns: Mapping[str, str] | None = None,
    **definition: Any,
) -> Table:
    catalog = paimonlab.connect(path)
    catalog.create_database("db", exist_ok=True)
    table = catalog.create_table("db.t", columns or COLUMNS, options=options, **definition)
    assert isinstance(table, Table)
    return table


def write(table: Table, *keys: int) -> None:
    table.write(pa.table({"k": pa.array(keys, pa.int32()), "v": [f"v{key}" for key in keys]}))


def keys(table: Table, **scan: Any) -> list[int]:
    return sorted(table.scan(["k"], **scan).to_arrow().column("k").to_pylist())


def values(table: Table) -> dict[int, Any]:
    return {row["k"]: row["v"] for row in table.scan().to_arrow().to_pylist()}


def indexes(table: Table, snapshot: Snapshot | None = None) -> list[IndexManifestEntry]:
    snapshot = snapshot or table.snapshot
    if snapshot is None or snapshot.index_manifest is None:
        return []
    return store_of(table).manifests.read_index(snapshot.index_manifest)


def data_files(table: Table) -> int:
    return table.scan().plan().files.num_rows


def new_table_with(table: Table, options: Mapping[str, str]) -> Table:
    return with_definition(table, definition_of(table).with_options(options))


def junk(table: Table) -> list[str]:
    """Names of data and index files that no snapshot has."""
    known = {
        name
        for snapshot in table.snapshots.list()
        for name in (
            *table.scan(snapshot=snapshot.id).plan().files["file_name"].to_pylist(),
            *(index.file_name for index in indexes(table, snapshot)),
        )
    }
    found = [
        path.name
        for folder in ("bucket-*", "index")
        for path in Path(table.path).glob(folder + "/*")
    ]
    return sorted(set(found) - known)


class Interference:
    """Lets others commit between the reading and the commit of a statement, a few times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *others: Callable[[], object]) -> None:
        self.others = list(others)
        self.commits = 0
        append = Committer.append

        def late(
            committer: Committer, messages: Sequence[CommitMessage], **request: Any
        ) -> Snapshot | None:
            if request.get("checked_id") is not None and self.others:
                other = self.others.pop(0)
                kept, self.others = self.others, []
                other()
                self.others = kept
            self.commits += 1
            return append(committer, messages, **request)

        monkeypatch.setattr(Committer, "append", late)
