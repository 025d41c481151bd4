"""The catalog options ``local-cache.…``: files of stores kept on the local disk.

Source: apache/paimon@5dacde5 ``CatalogOptions``, ``org.apache.paimon.fs.cache.CachingFileIO``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from paimonlab.catalog import option_values
from paimonlab.errors import UnsupportedError
from paimonlab.spec.file_kinds import FILE_KINDS, GLOBAL_INDEX, META, lasting_kind
from paimonlab.spec.options.grammar import parse_list
from paimonlab.storage import FileIO

if TYPE_CHECKING:
    from paimonlab.storage.disk_cache import DiskCache

_ENABLED, _FOLDER = "local-cache.enabled", "local-cache.dir"
_MAX, _BLOCK, _KINDS = "local-cache.max-size", "local-cache.block-size", "local-cache.whitelist"
LOCAL_CACHE_OPTIONS = (_ENABLED, _FOLDER, _MAX, _BLOCK, _KINDS)
_LEAST_BLOCK, _LARGEST_BLOCK = 64 << 10, 64 << 20


class LocalCache(Struct, frozen=True):
    """Which files of stores are kept, and where."""

    disk: DiskCache
    kinds: frozenset[str]

    def before(self, store: FileIO) -> FileIO:
        """Return a store that keeps what is read of another one."""
        from paimonlab.storage.disk_cache import CachingFileIO  # noqa: PLC0415 - for start-up time

        return CachingFileIO(store, self.disk, partial(_is_of, self.kinds))


def local_cache(options: Mapping[str, str]) -> LocalCache | None:
    """Read the options; None if nothing is to be kept.

    Raises
    ------
    UnsupportedError
        If there is no folder.
    ValueError
        If a value is not allowed.
    """
    kinds = frozenset(parse_list(options.get(_KINDS, f"{META},{GLOBAL_INDEX}")))
    if unknown := kinds - set(FILE_KINDS):
        known = ", ".join(FILE_KINDS)
        raise ValueError(f"{_KINDS}: {', '.join(sorted(unknown))} is none of {known}")
    limit = option_values.size_bytes(options, _MAX) if _MAX in options else None
    block = option_values.size_bytes(options, _BLOCK) if _BLOCK in options else 1 << 20
    if not _LEAST_BLOCK <= block <= _LARGEST_BLOCK:
        raise ValueError(f"{_BLOCK} = {options[_BLOCK]!r} is not between 64 kb and 64 mb")
    if limit is not None and limit < 2 * block:
        raise ValueError(f"{_MAX} = {options[_MAX]!r} has no room for two blocks")
    if _ENABLED not in options or not option_values.boolean(options, _ENABLED):
        return None
    folder = options.get(_FOLDER)
    if not folder:
        raise UnsupportedError(
            f"{_ENABLED} = 'true' without {_FOLDER}",
            "name a folder on the local disk; in memory manifests and footers are kept anyway",
        )
    from paimonlab.storage.disk_cache import DiskCache  # noqa: PLC0415 - for start-up time

    place = str(Path(folder).expanduser().absolute())
    return LocalCache(DiskCache(folder=place, limit_bytes=limit, block_bytes=block), kinds)


def _is_of(kinds: frozenset[str], path: str) -> bool:
    return lasting_kind(path) in kinds
