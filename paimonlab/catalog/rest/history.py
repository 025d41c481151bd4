"""The history of a table that a REST server keeps: snapshots, rollback, branches.

Source: apache/paimon@1.4.2 ``org.apache.paimon.catalog.CatalogSnapshotCommit``,
``org.apache.paimon.utils.CatalogBranchManager``, ``org.apache.paimon.tag.SnapshotLoaderImpl``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from msgspec import structs

from paimonlab.catalog.rest.answers import RefusalError, meant_for
from paimonlab.catalog.rest.client import DoubtError, RestClient
from paimonlab.catalog.rest.partition_statistics import partition_statistics
from paimonlab.catalog.rest.wire import (
    Alter,
    BranchesAnswer,
    Commit,
    CommitAnswer,
    CreateBranch,
    Document,
    LatestAnswer,
    RenameBranch,
    Rollback,
    RollbackInstant,
    SnapshotAnswer,
    object_name,
)
from paimonlab.errors import AccessDeniedError, CommitError, TableNotFoundError
from paimonlab.metadata.kept_history import KeptHistory
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import concat
from paimonlab.scan.live_files import delta_manifests_of, read_entries
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO


@dataclass(frozen=True)
class RestHistory(KeptHistory):
    """The history of one table, or of one of its branches."""

    client: RestClient
    identifier: Identifier
    table_id: str
    """What the server calls the table: another one after it was created anew."""
    schema: TableSchema
    """The one that the table was opened with; its partition columns never change."""
    file_io: FileIO
    layout: TableLayout

    @property
    def _parts(self) -> tuple[str, ...]:
        return (
            "databases",
            self.identifier.database,
            "tables",
            object_name(self.identifier),
        )

    @property
    def _main(self) -> tuple[str, ...]:
        return ("databases", self.identifier.database, "tables", self.identifier.table)

    @property
    def _name(self) -> str:
        return str(self.identifier)

    def latest(self) -> Snapshot | None:
        """Ask the server for the latest snapshot."""
        with meant_for(self._name):
            try:
                answer = self.client.get(LatestAnswer, *self._parts, "snapshot")
            except RefusalError as error:
                if error.code == 404 and error.resource == "SNAPSHOT":
                    return None
                raise
        return None if answer.snapshot is None else answer.snapshot.snapshot

    def find(self, snapshot_id: int) -> Snapshot | None:
        """Ask the server for a snapshot."""
        with meant_for(self._name):
            try:
                answer = self.client.get(
                    SnapshotAnswer, *self._parts, "snapshots", str(snapshot_id)
                )
            except RefusalError as error:
                if error.code == 404 and error.resource == "SNAPSHOT":
                    return None
                raise
        return answer.snapshot

    def publish(self, snapshot: Snapshot) -> bool:
        """Let the server publish a snapshot, and tell it how partitions change."""
        manifests = ManifestStore(self.file_io, self.layout)
        entries = concat(read_entries(snapshot, delta_manifests_of(snapshot, manifests), manifests))
        statistics = partition_statistics(
            entries,
            [self.schema.field(name) for name in self.schema.partition_keys],
            Options(self.schema.options).slice(PartitionOptions),
        )
        body = Commit(table_id=self.table_id, snapshot=snapshot, statistics=statistics)
        try:
            answer = self.client.once(CommitAnswer, "POST", body, *self._parts, "commit")
        except DoubtError as error:
            raise error.public() from None
        except AccessDeniedError as error:
            raise CommitError(f"{self._name}: the commit did not happen: {error}") from error
        except RefusalError as error:
            if error.code == 404:
                raise TableNotFoundError(self._name) from None
            told = f"{error.code}: {error.problem}"
            raise CommitError(f"{self._name}: the commit did not happen: {told}") from None
        return answer.success

    def roll_back(self, snapshot_id: int, *, tag: str | None, latest: int) -> None:
        """Let the server roll back; it deletes what comes after."""
        instant = RollbackInstant(type="snapshot", snapshot_id=snapshot_id)
        if tag is not None:
            instant = RollbackInstant(type="tag", tag_name=tag)
        self._change(
            "POST",
            Rollback(instant=instant, from_snapshot=latest),
            *(*self._parts, "rollback"),
            is_done=lambda: self._is_at(snapshot_id),
        )

    def _is_at(self, snapshot_id: int) -> bool:
        latest = self.latest()
        return latest is not None and latest.id == snapshot_id

    def set_option(self, key: str, value: str) -> None:
        """Let the server set an option; to do so twice changes nothing."""
        change = {"action": "setOption", "key": key, "value": value}
        self._change("POST", Alter(changes=[change]), *self._parts, is_done=lambda: False)

    def branches(self) -> list[str]:
        """Ask the server for the names of branches."""
        with meant_for(self._name):
            answer = self.client.get(BranchesAnswer, *self._main, "branches")
        return sorted(answer.branches or ())

    def create_branch(self, name: str, tag: str | None) -> None:
        """Let the server create a branch."""
        self._change(
            "POST",
            CreateBranch(branch=name, from_tag=tag),
            *(*self._main, "branches"),
            is_done=lambda: name in self.branches(),
        )

    def delete_branch(self, name: str) -> None:
        """Let the server delete a branch."""
        path = (*self._main, "branches", name)
        self._change("DELETE", None, *path, is_done=lambda: name not in self.branches())

    def rename_branch(self, name: str, target: str) -> None:
        """Let the server rename a branch."""
        self._change(
            "POST",
            RenameBranch(to_branch=target),
            *(*self._main, "branches", name, "rename"),
            is_done=lambda: name not in self.branches(),
        )

    def fast_forward(self, name: str) -> None:
        """Let the server fast-forward the table to a branch; to do so twice changes nothing."""
        path = (*self._parts, "branches", name, "forward")
        self._change("POST", Document(), *path, is_done=lambda: False)

    def _change(
        self, method: str, body: Document | None, *parts: str, is_done: Callable[[], bool]
    ) -> None:
        with meant_for(self._name):
            self.client.change(method, body, *parts, is_done=is_done)

    def on_branch(self, layout: TableLayout) -> RestHistory:
        """Return the history of a branch."""
        identifier = structs.replace(self.identifier, branch=layout.branch)
        return replace(self, identifier=identifier, layout=layout)
