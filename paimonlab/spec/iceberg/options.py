"""Whether a table has Iceberg metadata, where, and what is in it.

Source: apache/paimon@1.4.2 ``org.apache.paimon.iceberg.IcebergOptions``,
``org.apache.paimon.iceberg.IcebergCommitCallback.catalogTableMetadataPath``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.secrets import hides_secrets
from paimonlab.spec.iceberg.types import iceberg_fields
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.types.data_types import DataField

DISABLED = "disabled"
TABLE_LOCATION = "table-location"
HIVE_CATALOG = "hive-catalog"
REST_CATALOG = "rest-catalog"
REST_PREFIX = "metadata.iceberg.rest."
METADATA_FOLDER = "metadata"
_DATABASE_SUFFIX = ".db"
_STORAGE = "metadata.iceberg.storage"
_OF_HIVE = (
    *("metadata.iceberg.uri", "metadata.iceberg.hive-conf-dir"),
    *("metadata.iceberg.hive-skip-update-stats", "metadata.iceberg.glue.skip-archive"),
)
"""What is told a metastore."""
_OF_CATALOGS = ("metadata.iceberg.database", "metadata.iceberg.table")
"""How a table is called in a catalog of Iceberg's."""
_REST_KEYS = (
    *("uri", "warehouse", "prefix", "token", "credential", "scope", "oauth2-server-uri"),
    *("rest.auth.type", "rest.auth.basic.username", "rest.auth.basic.password"),
    *("rest.sigv4-enabled", "rest.signing-region", "rest.signing-name"),
    *("rest.access-key-id", "rest.secret-access-key", "rest.session-token"),
    *("rest.client.connection-timeout-ms", "rest.client.socket-timeout-ms"),
)
"""Properties of Iceberg's REST client that are obeyed."""
_REST_KEYS_WITHOUT_EFFECT = ("io-impl", "clients", "cache-enabled")
_REST_PREFIXES = ("header.",)
_REST_PREFIXES_WITHOUT_EFFECT = ("s3.", "gcs.", "adls.", "client.")
"""They steer how Iceberg's library reads files; here a catalog is told of them only."""
_SIGNED = "sigv4"
_OF_SIGNATURES = ("rest.signing-", "rest.access-key-id", "rest.secret-", "rest.session-token")
_AUTHORISATIONS = ("none", "oauth2", "basic", _SIGNED)
_VERSION = "metadata.iceberg.format-version"
_MOST = 2**31 - 1


class IcebergPlace(OptionSlice):
    """The table options that say whether there is Iceberg metadata, and where."""

    storage: str = option_field(_STORAGE, "enum", DISABLED)
    """``metadata.iceberg.storage``"""
    storage_location: str | None = option_field("metadata.iceberg.storage-location", "enum", None)
    """``metadata.iceberg.storage-location``; None: as ``metadata.iceberg.storage`` has it."""

    @property
    def is_enabled(self) -> bool:
        """Whether there is Iceberg metadata."""
        return self.storage != DISABLED

    @property
    def is_told(self) -> bool:
        """Whether a catalog of Iceberg's is told of the metadata."""
        return self.storage in (HIVE_CATALOG, REST_CATALOG)

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


class IcebergOptions(OptionSlice):
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


@hides_secrets
class IcebergRest(OptionSlice):
    """The table options that are properties of Iceberg's REST client; not to be shown."""

    properties: dict[str, str] = option_field(f"{REST_PREFIX}*", "string", {})
    """``metadata.iceberg.rest.*``"""


def is_signed(properties: Mapping[str, str]) -> bool:
    """Whether requests to a REST catalog are signed as AWS wants it."""
    return (
        properties.get("rest.auth.type") == _SIGNED
        or properties.get("rest.sigv4-enabled", "false").lower() == "true"
    )


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
    """Check that what is told a catalog of Iceberg's goes with the storage."""
    for key in given:
        if key in _OF_HIVE:
            fits: tuple[str, ...] = (HIVE_CATALOG,)
        elif key in _OF_CATALOGS:
            fits = (HIVE_CATALOG, REST_CATALOG)
        elif key.startswith(REST_PREFIX):
            fits = (REST_CATALOG,)
        else:
            continue
        if storage not in fits:
            raise UnsupportedError(
                f"option {key!r} with {_STORAGE!r} = {storage!r}",
                f"it goes with {_STORAGE!r} = {' or '.join(map(repr, fits))}",
            )
    if storage == REST_CATALOG:
        _check_rest(given.slice(IcebergRest).properties)


def _check_rest(properties: Mapping[str, str]) -> None:
    """Check that all properties of the REST client are understood."""
    if not properties.get("uri"):
        raise SchemaError(
            f"{_STORAGE!r} = {REST_CATALOG!r} needs the option '{REST_PREFIX}uri': the address of "
            "the catalog, http://host:port"
        )
    for key in properties:
        if key in _REST_KEYS or key in _REST_KEYS_WITHOUT_EFFECT:
            continue
        if not key.startswith((*_REST_PREFIXES, *_REST_PREFIXES_WITHOUT_EFFECT)):
            raise UnsupportedError(
                f"option '{REST_PREFIX}{key}'",
                f"those that are: {', '.join(_REST_KEYS)} and header.*, after {REST_PREFIX!r}",
            )
    authorisation = properties.get("rest.auth.type")
    if authorisation not in (None, *_AUTHORISATIONS):
        raise UnsupportedError(
            f"option '{REST_PREFIX}rest.auth.type' = {authorisation!r}",
            f"it is {', '.join(_AUTHORISATIONS)}",
        )
    _check_signatures(properties)
    needed = ("rest.auth.basic.username", "rest.auth.basic.password")
    if authorisation == "basic" and not all(properties.get(key) for key in needed):
        raise SchemaError(
            f"'{REST_PREFIX}rest.auth.type' = 'basic' needs "
            + " and ".join(f"'{REST_PREFIX}{key}'" for key in needed)
        )
    if authorisation == "oauth2" and not (properties.get("token") or properties.get("credential")):
        raise SchemaError(
            f"'{REST_PREFIX}rest.auth.type' = 'oauth2' needs '{REST_PREFIX}token' or "
            f"'{REST_PREFIX}credential'"
        )


def _check_signatures(properties: Mapping[str, str]) -> None:
    """Check that signatures of AWS are the only thing that says who asks, if there are any."""
    enabled = properties.get("rest.sigv4-enabled", "false")
    if enabled.lower() not in ("true", "false"):
        raise SchemaError(
            f"option '{REST_PREFIX}rest.sigv4-enabled' must be true or false, not {enabled!r}"
        )
    if is_signed(properties):
        others = [key for key in ("token", "credential") if properties.get(key)]
        if others or properties.get("rest.auth.type") not in (None, _SIGNED):
            other = others[0] if others else "rest.auth.type"
            raise UnsupportedError(
                f"option '{REST_PREFIX}{other}' with signatures of AWS", "use one of them"
            )
        if bool(properties.get("rest.access-key-id")) != bool(
            properties.get("rest.secret-access-key")
        ):
            raise SchemaError(
                f"'{REST_PREFIX}rest.access-key-id' and '{REST_PREFIX}rest.secret-access-key' go "
                "together"
            )
    else:
        for key in properties:
            if key.startswith(_OF_SIGNATURES):
                raise SchemaError(
                    f"'{REST_PREFIX}{key}' goes with '{REST_PREFIX}rest.auth.type' = 'sigv4'"
                )
