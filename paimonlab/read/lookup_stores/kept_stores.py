"""Lookup stores in the folder of a user: found, checked, made.

A store that cannot be kept, for whatever reason, is None: those who ask read the file instead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from paimonlab.read.lookup_options import LookupStorePlan, default_folder
from paimonlab.read.lookup_stores.key_filter import KeyFilter
from paimonlab.read.lookup_stores.store_file import StoreFile, StoreIdentity
from paimonlab.read.lookup_stores.store_writing import write_store
from paimonlab.storage.kept_files import KeptFiles
from paimonlab.storage.recent import Recent

_CHECKED_BYTES = 400
_OPEN_BYTES = 128 << 20
_LOOKED_AT = 8
"""How many open stores are looked at, on average, when one is opened or some are deleted."""


class _State(NamedTuple):
    """A file that nobody has replaced or written to since."""

    path: str
    inode: int
    size_bytes: int
    mtime_ns: int


_checked: Recent[_State, bool] = Recent(limit_bytes=4 << 20)
"""Stores whose content this process has compared with its checksum or has written."""
_open: Recent[_State, tuple[StoredColumns, StoreFile]] = Recent(_OPEN_BYTES)
"""Stores that stay mapped: else each commit has the system map their pages again, which takes 8 µs
for 64 kB, so that few keys cost what the store is large."""


@dataclass(frozen=True, slots=True)
class StoredColumns:
    """What stores of one kind have of each row."""

    keys: pa.Schema
    values: pa.Schema | None = None
    """None: nothing but the keys."""
    key_filter: KeyFilter | None = None
    """How keys are filtered; None: they are not."""


@dataclass(frozen=True, slots=True)
class KeptStores:
    """The stores of some files that are of use as long as each other."""

    plan: LookupStorePlan
    group: tuple[str, ...]
    """What tells them from others."""
    columns: StoredColumns

    def find(
        self, identity: StoreIdentity, rows: Callable[[], Iterable[pa.Table]]
    ) -> StoreFile | None:
        """Open a store, after making it if there is none.

        Parameters
        ----------
        identity
            What its rows are.
        rows
            Returns them, each piece to be one batch of the store; called if it is made.

        Returns
        -------
        StoreFile or None
            None if the store cannot be kept.
        """
        store = self.opened(identity)
        if store is not None:
            return store
        group, name = digest(*self.group), _name(identity)

        def write(draft: str) -> None:
            columns = self.columns
            write_store(
                draft,
                identity,
                rows(),
                keys=columns.keys,
                values=columns.values,
                key_filter=columns.key_filter,
            )

        path = self.files.add(group, name, write)
        if path is None:
            return None
        with suppress(FileNotFoundError):  # another process may have deleted it
            _checked.put(_state(path), True, _CHECKED_BYTES)  # noqa: FBT003 - a value
        return self._opened(path, identity)

    def opened(self, identity: StoreIdentity) -> StoreFile | None:
        """Open a store; None if there is none, or it is not what it should be."""
        path = self.files.find(digest(*self.group), _name(identity))
        return None if path is None else self._opened(path, identity)

    def drop_others(self, file_names: Iterable[str]) -> None:
        """Delete the stores of the group but those of some files."""
        names = {digest(name) for name in file_names}
        self.files.keep_only(digest(*self.group), lambda name: name.split("-")[0] in names)
        _close_deleted()

    @property
    def files(self) -> KeptFiles:
        """All files that are kept, those of other groups as well."""
        return KeptFiles(
            self.plan.folder or default_folder(),
            retention_seconds=self.plan.options.retention_millis / 1000,
            limit_bytes=self.plan.options.max_disk_bytes,
        )

    def _opened(self, path: str, identity: StoreIdentity) -> StoreFile | None:
        columns = self.columns
        try:
            key = _state(path)
            if (opened := _open.get(key)) is not None:
                of, store = opened
                if of == columns and store.identity == identity:
                    return store
            found = StoreFile.open(
                path,
                identity,
                keys=columns.keys,
                values=columns.values,
                key_filter=columns.key_filter,
                is_checked=_checked.get(key) is not None,
            )
            is_same = _state(path) == key
        except (OSError, pa.ArrowInvalid):
            return None
        if found is not None and is_same:
            _checked.put(key, True, _CHECKED_BYTES)  # noqa: FBT003 - a value
            _close_deleted()
            _open.put(key, (columns, found), key.size_bytes)
        return found


class _Looks:
    """When stores are looked for that were deleted or replaced."""

    calls_left = 0


def _close_deleted() -> None:
    """Let go of stores that were deleted or replaced: their bytes are on the disk until then.

    Of many open ones not at each call: else a commit to n buckets would ask for n * n files.
    """
    _Looks.calls_left -= 1
    if _Looks.calls_left > 0:
        return
    keys = _open.all_keys()
    _open.drop([key for key in keys if not _is_there(key)])
    _Looks.calls_left = len(keys) // _LOOKED_AT


def _is_there(key: _State) -> bool:
    try:
        return _state(key.path) == key
    except OSError:
        return False


def _state(path: str) -> _State:
    found = Path(path).stat()
    return _State(path, found.st_ino, found.st_size, found.st_mtime_ns)


def _name(identity: StoreIdentity) -> str:
    parts = (str(identity.file_size_bytes), identity.columns, identity.compression)
    fpp = () if identity.fpp is None else (str(identity.fpp),)
    return f"{digest(identity.file_name)}-{digest(*parts, *fpp)}"


def digest(*parts: str) -> str:
    """Return a name for what some texts say together."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
