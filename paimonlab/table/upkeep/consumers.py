"""The consumers of a table, as users handle them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from paimonlab import clock
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.table.named import Named
from paimonlab.table.store import TableStore


class ConsumerOptions(OptionSlice):
    """The table option that lets consumers expire."""

    expiration_millis: int | None = option_field("consumer.expiration-time", "duration", None)
    """``consumer.expiration-time``: how long one may be idle; None: for ever."""


class Consumers(Named, written="table.consumers"):
    """Readers that record which snapshot they read next: ``table.consumers``.

    Snapshots from that one on do not expire.
    """

    def __init__(self, store: TableStore) -> None:
        self._consumers = store.consumers
        self._snapshots = store.snapshots

    def __getitem__(self, name: str) -> int:
        return self.get(name)

    def list(self) -> dict[str, int]:
        """Return the snapshot that each consumer reads next, sorted by name.

        Raises
        ------
        TableNotFoundError
            If the table was dropped or renamed after it was opened.
        """
        found = self._consumers.list()
        if not found:
            self._snapshots.check_exists()
        return found

    def get(self, name: str) -> int:
        """Return the id of the snapshot that a consumer reads next.

        Raises
        ------
        ConsumerNotFoundError
            If there is no such consumer.
        """
        return self._consumers.get(name)

    def reset(self, name: str, next_snapshot: int) -> None:
        """Let a consumer read on from a snapshot; it is created if it does not exist.

        Raises
        ------
        ValueError
            If the name cannot be used, or the id is below 1.
        """
        self._consumers.reset(name, next_snapshot)

    def delete(self, name: str) -> None:
        """Delete a consumer.

        Raises
        ------
        ConsumerNotFoundError
            If there is no such consumer.
        """
        self._consumers.delete(name)

    def clear(self, *, including: str = ".*", excluding: str | None = None) -> Sequence[str]:
        r"""Delete the consumers whose whole names match a regular expression.

        Parameters
        ----------
        including, excluding
            What names must match, and what they must not. As in Java, ``\w``, ``\d`` and
            ``\s`` know ASCII alone.

        Returns
        -------
        list of str
            Their names.
        """
        names = [
            name
            for name in self._consumers.list()
            if re.fullmatch(including, name, re.ASCII)
            and (excluding is None or not re.fullmatch(excluding, name, re.ASCII))
        ]
        for name in names:
            self._consumers.delete(name)
        return names

    def expire(self, older_than: datetime | timedelta, *, dry_run: bool = False) -> Sequence[str]:
        """Delete the consumers that have not moved since a time, or for some time.

        Parameters
        ----------
        older_than
            A time, or how long ago.
        dry_run
            Delete none, only return which.

        Returns
        -------
        list of str
            Their names.
        """
        if isinstance(older_than, timedelta):
            older_than = clock.now() - older_than
        return self._consumers.expire(older_than.astimezone(), dry_run=dry_run)
