"""Whether a table has Iceberg metadata, where, and what is in it.

Source: apache/paimon@1.4.2 ``org.apache.paimon.iceberg.IcebergOptions``,
``org.apache.paimon.iceberg.IcebergCommitCallback.catalogTableMetadataPath``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.iceberg.types import iceberg_fields
from paimonlab.spec.options.table_options import Options, option_field
from paimonlab.spec.types.data_types import DataField

DISABLED = "disabled"
TABLE_LOCATION = "table-location"
HIVE_CATALOG = "hive-catalog"
METADATA_FOLDER = "metadata"
_DATABASE_SUFFIX = ".db"
_STORAGE = "metadata.iceberg.storage"
_OF_HIVE = (
    *("metadata.iceberg.uri", "metadata.iceberg.hive-conf-dir"),
    *("metadata.iceberg.database", "metadata.iceberg.table"),
    *("metadata.iceberg.hive-skip-update-stats", "metadata.iceberg.glue.skip-archive"),
)
"""What is told a metastore."""
_VERSION = "metadata.iceberg.format-version"
_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergPlace:
    """The table options that say whether there is Iceberg metadata, and where."""

    storage: str = option_field(_STORAGE, "enum", DISABLED)
    """``metadata.iceberg.storage``"""
    storage_location: str | None = option_field("metadata.iceberg.storage-location", "enum", None)
    """``metadata.iceberg.storage-location``; None: as ``metadata.iceberg.storage`` has it."""

    @property
    def is_enabled(self) -> bool:
        """Whether there is Iceberg metadata."""
        return self.storage != DISABLED

    def folder(self, table_path: str) -> str | None:
        """Return the folder of the metadata; None if there is none.

        Parameters
        ----------
        table_path
            Folder of the table.

        Raises
        ------
        UnsupportedError
            If the folder is to be below that of the warehouse, and the table is in no warehouse.
        """
        if not self.is_enabled:
            return None
        location = self.storage_location
        if location is None:
            location = TABLE_LOCATION if self.storage == TABLE_LOCATION else "catalog-location"
        if location == TABLE_LOCATION:
            return f"{table_path}/{METADATA_FOLDER}"
        database, _, table = table_path.rpartition("/")
        warehouse, _, name = database.rpartition("/")
        if not name.endswith(_DATABASE_SUFFIX) or not warehouse:
            raise UnsupportedError(
                f"option {_STORAGE!r} = {self.storage!r} for a table outside of a warehouse",
                f"{table_path} is not in a folder <warehouse>/<database>.db; set "
                f"'metadata.iceberg.storage-location' = '{TABLE_LOCATION}'",
            )
        database_name = name.removesuffix(_DATABASE_SUFFIX)
        return f"{warehouse}/iceberg/{database_name}/{table}/{METADATA_FOLDER}"


def folder_outside(table_path: str, options: Options) -> str | None:
    """Return the folder of the metadata if it is not in the table's; else, or if unknown, None."""
    try:
        folder = options.slice(IcebergPlace).folder(table_path)
    except UnsupportedError:  # writers say so
        return None
    return None if folder is None or folder.startswith(f"{table_path}/") else folder


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergOptions:
    """The table options that steer what is in Iceberg metadata."""

    format_version: int = option_field(_VERSION, "int", 2)
    """``metadata.iceberg.format-version``: 2 or 3."""
    compression: str = option_field("metadata.iceberg.manifest-compression", "string", "snappy")
    """``metadata.iceberg.manifest-compression``: snappy, zstd or null."""
    has_former_names: bool = option_field(
        "metadata.iceberg.manifest-legacy-version", "boolean", default=False
    )
    """``metadata.iceberg.manifest-legacy-version``: fields are named as Iceberg 1.4 named them."""
    merge_min_count: int = option_field("metadata.iceberg.compaction.min.file-num", "int", 10)
    """``metadata.iceberg.compaction.min.file-num``"""
    merge_max_count: int = option_field("metadata.iceberg.compaction.max.file-num", "int", 50)
    """``metadata.iceberg.compaction.max.file-num``"""
    deletes_former: bool = option_field(
        "metadata.iceberg.delete-after-commit.enabled", "boolean", default=True
    )
    """``metadata.iceberg.delete-after-commit.enabled``"""
    former_versions: int = option_field("metadata.iceberg.previous-versions-max", "int", 0)
    """``metadata.iceberg.previous-versions-max``"""
    manifest_bytes: int = option_field("manifest.target-file-size", "memory", "8 mb")
    """``manifest.target-file-size``"""
    retain_max: int = option_field("snapshot.num-retained.max", "int", _MOST)
    """``snapshot.num-retained.max``"""
    retain_min: int = option_field("snapshot.num-retained.min", "int", 10)
    """``snapshot.num-retained.min``"""
    retained_millis: int = option_field("snapshot.time-retained", "duration", "1 h")
    """``snapshot.time-retained``"""
    has_vectors: bool = option_field("deletion-vectors.enabled", "boolean", default=False)
    """``deletion-vectors.enabled``"""
    has_bitmap64: bool = option_field("deletion-vectors.bitmap64", "boolean", default=False)
    """``deletion-vectors.bitmap64``"""
    explicit_level_count: int | None = option_field("num-levels", "int", None)
    """``num-levels``; None: one more than the compaction trigger."""
    compaction_trigger: int = option_field("num-sorted-run.compaction-trigger", "int", 5)
    """``num-sorted-run.compaction-trigger``"""

    @property
    def shows_vectors(self) -> bool:
        """Whether Iceberg sees deletion vectors, which it has since version 3."""
        return self.has_vectors and self.has_bitmap64 and self.format_version >= 3

    def shows_level(self, level: int, *, has_key: bool) -> bool:
        """Whether Iceberg may see a file: its readers merge nothing.

        Parameters
        ----------
        level
            Of the file.
        has_key
            Whether the table has a primary key.
        """
        if not has_key:
            return True
        if self.shows_vectors:
            return level > 0
        count = self.explicit_level_count
        return level == (self.compaction_trigger if count is None else count - 1)


def check_iceberg(
    fields: Sequence[DataField], options: Mapping[str, str], *, has_key: bool
) -> None:
    """Check that Iceberg can read what a table has, if it has Iceberg metadata.

    Parameters
    ----------
    fields
        Its columns.
    options
        Of the table.
    has_key
        Whether it has a primary key.

    Raises
    ------
    SchemaError
        If an option has a value that means nothing.
    UnsupportedError
        If readers of Iceberg could not read the table, or would read other rows.
    """
    given = Options(options)
    place = given.slice(IcebergPlace)
    if not place.is_enabled:
        return
    _check_storage(given, place.storage)
    chosen = given.slice(IcebergOptions)
    if chosen.format_version not in (2, 3):
        raise SchemaError(f"option {_VERSION!r} must be 2 or 3, not {chosen.format_version}")
    if chosen.former_versions < 0:
        raise SchemaError("option 'metadata.iceberg.previous-versions-max' must be at least 0")
    if chosen.compression.lower() not in ("snappy", "zstd", "null"):
        raise UnsupportedError(
            f"option 'metadata.iceberg.manifest-compression' = {chosen.compression!r}",
            "use snappy, zstd or null",
        )
    for key, value in given.items():
        is_format = key == "file.format" or key.startswith("file.format.per.level")
        if is_format and any(
            part.rpartition(":")[2].strip().lower() != "parquet" for part in value.split(",")
        ):
            raise UnsupportedError(
                f"option {key!r} = {value!r} with {_STORAGE!r}",
                "readers of Iceberg find columns by ids that only Parquet files have",
            )
    if given.get("data-file.path-directory", "").split("/")[0] == METADATA_FOLDER:
        raise SchemaError(
            "option 'data-file.path-directory' is the folder of the Iceberg metadata; "
            "choose another one"
        )
    if given.get("data-evolution.enabled", "false").lower() == "true":
        raise UnsupportedError(
            f"option 'data-evolution.enabled' with {_STORAGE!r}",
            "readers of Iceberg do not put columns of several files together",
        )
    if chosen.has_vectors and not has_key and not chosen.shows_vectors:
        raise UnsupportedError(
            f"option 'deletion-vectors.enabled' with {_STORAGE!r} and {_VERSION!r} = 2, or without "
            "'deletion-vectors.bitmap64'",
            f"deleted rows would reappear in Iceberg; set {_VERSION!r} = '3' and "
            "'deletion-vectors.bitmap64' = 'true'",
        )
    iceberg_fields(fields, chosen.format_version)


def _check_storage(given: Options, storage: str) -> None:
    """Check that what is told a metastore goes with the storage."""
    for key in _OF_HIVE:
        if key in given and storage != HIVE_CATALOG:
            raise UnsupportedError(
                f"option {key!r} with {_STORAGE!r} = {storage!r}",
                f"it goes with {_STORAGE!r} = {HIVE_CATALOG!r}",
            )
