"""Where keys are, kept on the local disk from one writer to the next.

A document says of which snapshot the places are, which layers have them, and how many keys each
bucket has; the layers are lookup stores. The document is replaced as a whole. Whoever finds it
missing, damaged or of another table, or a layer of it missing or damaged, reads the keys again.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec
import pyarrow as pa

from paimonlab.read.lookup_options import LookupStorePlan
from paimonlab.read.lookup_stores.kept_stores import KeptStores, StoredColumns, digest
from paimonlab.read.lookup_stores.key_filter import KeyFilter
from paimonlab.read.lookup_stores.store_file import StoreIdentity
from paimonlab.spec.decoding import ready
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage.forks import UniqueNames
from paimonlab.write.key_places.layers import PLACES_SCHEMA, KeyColumns, KeyLayer, StoredLayer
from paimonlab.write.key_places.places import KeyPlaces, KnownPlaces, Places
from paimonlab.write.write_plan import WritePlan

_GROUP = "keys of all partitions"
_STATE = "state"
_VERSION = 1
_names = UniqueNames()


class _State(msgspec.Struct, frozen=True, kw_only=True):
    """What the document says."""

    version: int
    table_path: str
    table_name: str
    columns: str
    snapshot: Snapshot
    layers: tuple[str, ...]
    """The oldest first."""
    buckets: tuple[tuple[bytes, int], ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeptPlaces:
    """The places of the keys of one table, as they are kept."""

    columns: KeyColumns
    stores: KeptStores
    plan: WritePlan

    @classmethod
    def of(cls, plan: WritePlan, stores: LookupStorePlan) -> Self:
        """Return those of a table."""
        columns, options = KeyColumns.of(plan.schema), stores.options
        key_filter = KeyFilter.of(columns.types, options.fpp) if options.has_filters else None
        group = (plan.table_path, plan.table_name, _GROUP)
        stored = StoredColumns(columns.schema, PLACES_SCHEMA, key_filter)
        return cls(columns, KeptStores(stores, group, stored), plan)

    def load(self) -> tuple[Snapshot, KnownPlaces] | None:
        """Return what is kept, and of which snapshot it is; None if that is nothing of use."""
        path = self.stores.files.find(digest(*self.stores.group), self._state_name)
        state = None if path is None else _decoded(path)
        if state is None or not self._is_ours(state):
            return None
        layers: list[KeyLayer] = []
        for name in state.layers:
            store = self.stores.opened(self._identity(name))
            if store is None:
                return None
            if store.keys:  # a layer of no key may be left from earlier code
                layers.append(StoredLayer(name, store))
        places = Places([*state.buckets], [*state.counts])
        return state.snapshot, KnownPlaces(self._keys(layers), places)

    def save(self, snapshot: Snapshot, known: KnownPlaces) -> None:
        """Keep what is known of a snapshot for others, as far as it can be kept."""
        known.keys.settle()
        names = [layer.name for layer in known.keys.layers if isinstance(layer, StoredLayer)]
        if len(names) < len(known.keys.layers):
            return
        state = _State(
            version=_VERSION,
            table_path=self.plan.table_path,
            table_name=self.plan.table_name,
            columns=self._columns_text,
            snapshot=snapshot,
            layers=tuple(names),
            buckets=tuple(known.places.buckets),
            counts=tuple(known.places.counts),
        )
        text = msgspec.json.encode(state)
        content = zlib.crc32(text).to_bytes(4, "little") + text

        def write(draft: str) -> None:
            Path(draft).write_bytes(content)

        self.stores.files.add(digest(*self.stores.group), self._state_name, write)
        self.stores.drop_others([_STATE, *names])

    def keep(self, rows: Callable[[], Iterator[pa.Table]]) -> StoredLayer | None:
        """Write a layer; None if it cannot be kept."""
        name = str(_names.next())
        store = self.stores.find(self._identity(name), rows)
        return None if store is None else StoredLayer(name, store)

    def nothing(self) -> KnownPlaces:
        """Return what is known of an empty table."""
        return KnownPlaces(self._keys([]), Places())

    @property
    def most_bytes(self) -> int:
        """What layers in memory may have together."""
        return self.stores.plan.options.memory_bytes

    def _keys(self, layers: list[KeyLayer]) -> KeyPlaces:
        return KeyPlaces(self.columns, self.most_bytes, self.keep, layers)

    def _is_ours(self, state: _State) -> bool:
        plan = self.plan
        named = (state.version, state.table_path, state.table_name, state.columns)
        return named == (_VERSION, plan.table_path, plan.table_name, self._columns_text)

    @property
    def _state_name(self) -> str:
        return f"{digest(_STATE)}-{digest(self._columns_text)}"

    @property
    def _columns_text(self) -> str:
        """Say what decides about keys and places: columns, and what new rows do to a key."""
        schema = self.plan.schema
        partition = [schema.field(name) for name in schema.partition_keys]
        return repr((self.columns.fields, partition, self.plan.options.merge_engine))

    def _identity(self, name: str) -> StoreIdentity:
        key_filter = self.stores.columns.key_filter
        return StoreIdentity(
            table_path=self.plan.table_path,
            bucket_path=_GROUP,
            file_name=name,
            file_size_bytes=0,
            columns=self._columns_text,
            compression="none",
            fpp=None if key_filter is None else key_filter.fpp,
        )


def _decoded(path: str) -> _State | None:
    try:
        content = Path(path).read_bytes()
    except OSError:
        return None
    text = content[4:]
    if zlib.crc32(text).to_bytes(4, "little") != content[:4]:
        return None
    try:
        return msgspec.json.decode(text, type=ready(_State))
    except (msgspec.ValidationError, msgspec.DecodeError):  # of another version
        return None
