"""The consumers of a table: readers that tell which snapshot they read next.

Source: https://paimon.apache.org/docs/master/maintenance/manage-snapshots/ and apache/paimon@1.3.1
``org.apache.paimon.consumer.ConsumerManager``, ``…Consumer``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from paimonlab.errors import ConsumerNotFoundError, CorruptMetadataError
from paimonlab.metadata.layout import CONSUMER_PREFIX, TableLayout
from paimonlab.spec.decoding import ready
from paimonlab.storage import FileIO, FileStatus, safe_join

_READ_ATTEMPTS = 10
_READ_WAIT_SECONDS = 0.2


class _Consumer(msgspec.Struct, rename="camel"):
    next_snapshot: int


class ConsumerManager:
    """Finds, moves and deletes consumers."""

    def __init__(
        self,
        file_io: FileIO,
        layout: TableLayout,
        *,
        table_name: str | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._file_io = file_io
        self._layout = layout
        self._table = table_name or layout.table_path
        self._wait = wait

    def list(self) -> dict[str, int]:
        """Return the snapshot that each consumer reads next, sorted by name."""
        consumers = {}
        for name in self._names():
            try:
                consumers[name] = self.get(name)
            except ConsumerNotFoundError:
                continue
        return consumers

    def get(self, name: str) -> int:
        """Return the id of the snapshot that a consumer reads next.

        Raises
        ------
        ConsumerNotFoundError
            If there is no such consumer.
        CorruptMetadataError
            If its file is damaged and stays so: it is read several times, as others may be
            replacing it.
        """
        path = self._path(name)
        problem: Exception | None = None
        for attempt in range(_READ_ATTEMPTS):
            if attempt:
                self._wait(_READ_WAIT_SECONDS)
            try:
                data = self._file_io.read(path)
                return msgspec.json.decode(data, type=ready(_Consumer)).next_snapshot
            except FileNotFoundError:
                raise ConsumerNotFoundError(self._table, name, self._names()) from None
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                problem = error
        raise CorruptMetadataError(path, str(problem)) from problem

    def reset(self, name: str, next_snapshot: int) -> None:
        """Let a consumer read on from a snapshot; it is created if needed.

        Raises
        ------
        ValueError
            If the name cannot be used, or the id is below 1.
        """
        if next_snapshot < 1:
            raise ValueError(f"snapshots are numbered from 1, got {next_snapshot}")
        data = msgspec.json.format(msgspec.json.encode(_Consumer(next_snapshot)), indent=2)
        self._file_io.replace(self._path(name), data)

    def delete(self, name: str) -> None:
        """Forget a consumer.

        Raises
        ------
        ConsumerNotFoundError
            If there is no such consumer.
        """
        path = self._path(name)
        if not self._file_io.exists(path):
            raise ConsumerNotFoundError(self._table, name, self._names())
        self._file_io.delete(path)

    def expire(self, older_than: datetime, *, dry_run: bool = False) -> Sequence[str]:
        """Forget the consumers that have not moved since a time.

        Parameters
        ----------
        older_than
            With a zone; compared with the store's clock.
        dry_run
            Only return the names.

        Returns
        -------
        list of str
            Their names.
        """
        gone = []
        for status in self._file_io.list(self._layout.consumer_folder):
            name = status.path.rpartition("/")[2]
            moved = datetime.fromtimestamp(status.modified_millis / 1000, UTC)
            if not _is_consumer(name) or status.is_linked or moved >= older_than:
                continue
            if not dry_run:
                if not self._has_not_moved(status):
                    continue
                self._file_io.delete(status.path)
            gone.append(name.removeprefix(CONSUMER_PREFIX))
        return sorted(gone)

    def _has_not_moved(self, before: FileStatus) -> bool:
        """Whether a consumer is as it was listed: it may have moved while others expired."""
        return before in self._file_io.list(self._layout.consumer_folder)

    def _names(self) -> Sequence[str]:
        names = self._file_io.list_names(self._layout.consumer_folder)
        return sorted(name.removeprefix(CONSUMER_PREFIX) for name in names if _is_consumer(name))

    def _path(self, name: str) -> str:
        if not name.strip() or "/" in name:
            raise ValueError(
                f"{name!r} cannot be the name of a consumer: it is blank or contains '/'"
            )
        try:
            return safe_join(self._layout.consumer_folder, f"{CONSUMER_PREFIX}{name}")
        except CorruptMetadataError as error:
            raise ValueError(f"{name!r} cannot be the name of a consumer") from error


def _is_consumer(name: str) -> bool:
    return name.startswith(CONSUMER_PREFIX) and len(name) > len(CONSUMER_PREFIX)
