"""Tables that Iceberg finds in a Hive metastore: ``metadata.iceberg.storage`` = ``hive-catalog``.

Source: apache/paimon@1.4.2 ``org.apache.paimon.iceberg.IcebergHiveMetadataCommitter``.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paimonlab.catalog.hive.client import (
    Metastore,
    MissingObjectError,
    Struct,
    TakenNameError,
    addresses_of,
    current_user,
)
from paimonlab.catalog.hive.hive_site import CONF_DIR, settings_of
from paimonlab.catalog.hive.objects import FOR_EVER, columns
from paimonlab.catalog.placed_tables import uri_of
from paimonlab.commit.iceberg.catalogs import NewestMetadata
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.types.data_types import DataField

_INPUT_FORMAT = "org.apache.hadoop.mapred.FileInputFormat"
_OUTPUT_FORMAT = "org.apache.hadoop.mapred.FileOutputFormat"
_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_PATIENCE = "30s"
"""How long a commit, which has happened then, waits for an answer if ``hive-site.xml`` does not say
so: it is waited for once, and the next commit tells the metastore."""
_NEWEST, _BEFORE = "metadata_location", "previous_metadata_location"


class _HiveOptions(OptionSlice):
    """The table options that say which metastore is told, and of which table."""

    uri: str | None = option_field("metadata.iceberg.uri", "string", None)
    """``metadata.iceberg.uri``"""
    conf_dir: str | None = option_field("metadata.iceberg.hive-conf-dir", "string", None)
    """``metadata.iceberg.hive-conf-dir``"""
    database: str | None = option_field("metadata.iceberg.database", "string", None)
    """``metadata.iceberg.database``; None: that of the table."""
    table: str | None = option_field("metadata.iceberg.table", "string", None)
    """``metadata.iceberg.table``; None: that of the table."""
    skips_archive: bool = option_field(
        "metadata.iceberg.glue.skip-archive", "boolean", default=False
    )
    """``metadata.iceberg.glue.skip-archive``"""
    skips_statistics: bool = option_field(
        "metadata.iceberg.hive-skip-update-stats", "boolean", default=False
    )
    """``metadata.iceberg.hive-skip-update-stats``"""


def iceberg_catalog(identifier: Identifier, options: Options) -> HiveIcebergCatalog:
    """Return what tells a metastore where the Iceberg metadata of a table is.

    Raises
    ------
    ValueError
        If no metastore is named.
    """
    given = options.slice(_HiveOptions)
    return HiveIcebergCatalog(
        metastore=_metastore(given.uri or "", given.conf_dir or ""),
        database=given.database or identifier.database,
        table=given.table or identifier.table,
        options=given,
    )


@functools.lru_cache(maxsize=8)
def _metastore(uri: str, conf_dir: str) -> Metastore:
    given = {key: value for key, value in (("uri", uri), (CONF_DIR, conf_dir)) if value}
    settings = settings_of(given, timeout=_PATIENCE)
    if not settings.uris:
        raise ValueError(
            "the table option 'metadata.iceberg.uri' is missing: thrift://host:9083, or "
            "'metadata.iceberg.hive-conf-dir' with a hive-site.xml that has hive.metastore.uris"
        )
    return Metastore(
        addresses_of(settings.uris),
        pool_size=1,
        timeout_seconds=settings.timeout_seconds,
        sends_user=settings.sends_user,
        security=settings.security,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HiveIcebergCatalog:
    """One table of Iceberg's in a metastore; its database and itself are made when they lack."""

    metastore: Metastore
    database: str
    table: str
    options: _HiveOptions

    def show_tags(self, newest: NewestMetadata) -> None:
        """Do nothing: tags are in the file, whose path stays."""

    def show(self, newest: NewestMetadata) -> None:
        """Tell where the newest metadata is; see `IcebergCatalog`.

        Raises
        ------
        CatalogServerError
            If the metastore cannot be reached, or refuses. The commit stands; the next one
            tells it.
        """
        place, fields = uri_of(newest.path), newest.fields
        found = self._found() or self._made(place, fields)
        known = dict(found.parameters or {})
        wanted = {**known, _NEWEST: place}
        if newest.before is not None:
            wanted[_BEFORE] = uri_of(newest.before)
        cols = columns(self.metastore, fields)
        if known == wanted and found.sd.cols == cols:
            return
        altered = copy.deepcopy(found)
        altered.parameters, altered.sd.cols = wanted, cols
        context = self.metastore.new(
            "EnvironmentContext",
            properties={
                "CASCADE": "true",
                "skipAWSGlueArchive": _text(self.options.skips_archive),
                "DO_NOT_UPDATE_STATS": _text(self.options.skips_statistics),
            },
        )

        def is_done() -> bool:
            now = self._found()
            return now is not None and (now.parameters or {}).get(_NEWEST) == place

        self.metastore.change(
            "alter_table_with_environment_context",
            *(self.database, self.table, altered, context),
            is_done=is_done,
        )

    def _found(self) -> Struct | None:
        return self.metastore.table(self.database, self.table)

    def _made(self, metadata: str, fields: Sequence[DataField]) -> Struct:
        """Make the object of the table, and the database around it."""
        location = metadata.rpartition("/")[0].rpartition("/")[0]
        self._make_database(location.rpartition("/")[0])
        now = int(time.time())
        descriptor = self.metastore.new(
            "StorageDescriptor",
            cols=columns(self.metastore, fields),
            location=location,
            inputFormat=_INPUT_FORMAT,
            outputFormat=_OUTPUT_FORMAT,
            serdeInfo=self.metastore.new("SerDeInfo", serializationLib=_SERDE),
        )
        made = self.metastore.new(
            "Table",
            tableName=self.table,
            dbName=self.database,
            owner=current_user(),
            createTime=now,
            lastAccessTime=now,
            retention=FOR_EVER,
            sd=descriptor,
            partitionKeys=[],
            parameters={
                "DO_NOT_UPDATE_STATS": _text(self.options.skips_statistics),
                "EXTERNAL": "TRUE",
                "table_type": "ICEBERG",
            },
            tableType="EXTERNAL_TABLE",
        )
        self._make("create_table", made, lambda: self._found() is not None)
        return made  # as it was made: what a metastore left out is altered into it, as by Java

    def _make_database(self, location: str) -> None:
        if not self._has_database():
            database = self.metastore.new("Database", name=self.database, locationUri=location)
            self._make("create_database", database, self._has_database)

    def _has_database(self) -> bool:
        try:
            self.metastore.ask("get_database", self.database)
        except MissingObjectError:
            return False
        return True

    def _make(self, call: str, wanted: Struct, is_done: Callable[[], bool]) -> None:
        """Make an object that there is not, unless others are faster."""
        with contextlib.suppress(TakenNameError):
            self.metastore.change(call, wanted, is_done=is_done)


def _text(value: bool) -> str:  # noqa: FBT001 - it has no other name
    return str(value).lower()
