"""Where lookup stores are, and how much of them there may be."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from msgspec import Struct, field

from paimonlab.spec.options.table_options import OptionSlice, option_field


def _share(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError("must be between 0 and 1")
    return value


class LookupStoreOptions(OptionSlice):
    """The table options that steer lookup stores."""

    retention_millis: int = option_field("lookup.cache-file-retention", "duration", "1 h")
    """``lookup.cache-file-retention``: a store that was not used for so long is deleted."""
    max_disk_bytes: int = option_field("lookup.cache-max-disk-size", "memory", "infinite")
    """``lookup.cache-max-disk-size``: what all stores of a folder may have together."""
    memory_bytes: int = option_field("lookup.cache-max-memory-size", "memory", "256 mb")
    """``lookup.cache-max-memory-size``: what making a store takes at most."""
    has_filters: bool = option_field("lookup.cache.bloom.filter.enabled", "boolean", default=True)
    """``lookup.cache.bloom.filter.enabled``: whether stores have filters of their keys."""
    fpp: float = option_field("lookup.cache.bloom.filter.fpp", "float", 0.05, parse=_share)
    """``lookup.cache.bloom.filter.fpp``: share of keys that are not there and are searched."""
    compression: str = option_field("lookup.cache-spill-compression", "enum", "none")
    """``lookup.cache-spill-compression``: of columns that are no keys: none, lz4 or zstd."""


class LookupStorePlan(Struct, frozen=True, kw_only=True):
    """All that finding and making stores takes, as one value."""

    options: LookupStoreOptions = field(default_factory=LookupStoreOptions)
    folder: str = ""
    """``lookup.cache-folder`` of the catalog, absolute; empty: `default_folder`. No option of a
    table says it: whoever defines a table would choose where its users write."""


def default_folder() -> str:
    """Return where stores are if nobody says where: this user's folder among temporary ones."""
    user = f"-{os.geteuid()}" if hasattr(os, "geteuid") else ""
    return str(Path(tempfile.gettempdir()) / f"paimonlab-lookup{user}")
