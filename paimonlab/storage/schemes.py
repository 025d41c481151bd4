"""Which store a path belongs to, and which options of a catalog are those of its store.

Sources: apache/paimon@1.3.1 ``S3FileIO``, ``OSSFileIO``, ``AzureFileIO``, ``GSFileIO``,
``COSNFileIO`` and ``OBSFileIO`` (schemes and prefixes of options).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from msgspec import Struct

from paimonlab.errors import UnsupportedError


class StoreKind(Struct, frozen=True):
    """A kind of store that is not a local disk."""

    name: str
    """As errors call it."""
    schemes: tuple[str, ...]
    prefixes: tuple[str, ...]
    """What its options begin with, longer ones first."""


S3 = StoreKind("S3", ("s3", "s3a", "s3n"), ("fs.s3a.", "s3a.", "s3."))
GCS = StoreKind("GCS", ("gs",), ("fs.gs.", "gcs.", "gs."))
AZURE = StoreKind("Azure", ("abfs", "abfss", "wasb", "wasbs"), ("fs.azure.", "fs.wasb.", "azure."))
OSS = StoreKind("OSS", ("oss",), ("fs.oss.",))
COSN = StoreKind("COS", ("cosn",), ("fs.cosn.",))
OBS = StoreKind("OBS", ("obs",), ("fs.obs.",))
HADOOP_PREFIX = "hadoop."
KERBEROS_PREFIX = "security.kerberos.login."
HDFS_CLIENT = "hdfs.client"
"""Catalog option: which library reaches HDFS."""
HDFS = StoreKind(
    "HDFS",
    ("hdfs", "viewfs"),
    ("hadoop-conf-dir", HADOOP_PREFIX, HDFS_CLIENT, KERBEROS_PREFIX),
)
WEBHDFS = StoreKind(
    "WebHDFS",
    ("webhdfs", "swebhdfs"),
    ("hadoop-conf-dir", HADOOP_PREFIX, KERBEROS_PREFIX, "webhdfs."),
)
FOLDER_STORES = (HDFS, WEBHDFS)
"""Those that have folders, which are moved at once."""
OBJECT_STORES = (S3, GCS, AZURE, OSS, COSN, OBS)
STORES = (*OBJECT_STORES, *FOLDER_STORES)
_BY_SCHEME = {scheme: kind for kind in STORES for scheme in kind.schemes}
STORE_PREFIXES = tuple(dict.fromkeys(prefix for kind in STORES for prefix in kind.prefixes))
SINGLE_WRITER = "unsafe.single-writer"
"""Catalog option: no other process writes to the warehouse."""
STORE_OPTIONS = (SINGLE_WRITER,)


def store_kind(path: str) -> StoreKind | None:
    """Return the kind of store that a path is in; None if it is a local one, or unknown.

    Examples
    --------
    >>> store_kind("S3A://lake/w").name, store_kind("/data"), store_kind("s3:a")
    ('S3', None, None)
    """
    scheme, found, _ = path.partition("://")
    return _BY_SCHEME.get(scheme.lower()) if found else None


def check_has_roles(path: str) -> None:
    """Refuse a path whose store gives no keys for a folder that hold for a while.

    Raises
    ------
    UnsupportedError
        If it is not in a store of S3's protocol.
    """
    kind = store_kind(path)
    if kind is AZURE:
        raise UnsupportedError(
            f"tokens for files at {path}",
            "Azure's signatures for a container open all tables in it, and those for a folder are "
            "for accounts with a hierarchical namespace alone; use keys of the store",
        )
    if kind is not S3:
        raise UnsupportedError(
            f"tokens for files at {path}",
            "stores of S3's protocol (s3://) with an STS give them; use keys of the store",
        )


def check_store_options(keys: Iterable[str], warehouse: str) -> None:
    """Refuse options of other stores than the one of a warehouse.

    Raises
    ------
    ValueError
        If there is one.
    """
    kind = store_kind(warehouse)
    for key in keys:
        of = [one for one in STORES if key.startswith(one.prefixes)]
        if of and kind not in of:
            names = " and ".join(one.name for one in of)
            raise ValueError(f"{key!r} is an option of {names}, and the warehouse is not there")
        if key in STORE_OPTIONS and kind not in OBJECT_STORES:
            raise ValueError(f"{key!r} is for object stores, and the warehouse is not on one")


def named_options(
    kind: StoreKind, options: Mapping[str, str], other_names: Mapping[str, str] | None = None
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the options of a store without their prefixes, and the keys that had them.

    Dashes and dots between words mean the same, upper and lower case as well.

    Raises
    ------
    ValueError
        If two names of one option have different values.
    """
    values: dict[str, str] = {}
    keys: dict[str, str] = {}
    for key, value in options.items():
        prefix = next(filter(key.startswith, kind.prefixes), None)
        if prefix is None:
            continue
        name = key[len(prefix) :].replace("-", ".").replace("_", ".").lower()
        name = (other_names or {}).get(name, name)
        if values.setdefault(name, value) != value:
            raise ValueError(f"the options {keys[name]!r} and {key!r} have different values")
        keys[name] = key
    return values, keys


def refuse_unknown(
    values: Mapping[str, str], keys: Mapping[str, str], known: Container[str]
) -> None:
    """Refuse the first option that is not among those that are implemented.

    Raises
    ------
    UnsupportedError
        If there is one.
    """
    for name in values:
        if name not in known:
            raise UnsupportedError(f"{keys[name]} = '{values[name]}'")
