"""Whether Spark's own Parquet scan reads the files of a store, or our reader does.

Spark opens files through Hadoop, which knows no option of a catalog. On HDFS its scan is taken only
where all that decides which files come, and as whom, is known to be the same on both sides: the
name node, the user, and each setting that the catalog's client goes by. For stores of S3's protocol
Hadoop is told how the catalog reaches them (`paimonlab.spark.reading.s3_scan`). Elsewhere, and
where something is not known, our reader stays.

Sources: apache/hadoop@3.4.2 ``FileSystem.getFileSystemClass``, ``HAUtil.isLogicalUri``,
``UserGroupInformation``; Kimahriman/hdfs-native ``common/config.rs`` and ``security/user.rs``;
apache/spark@v4.2.0 ``SessionState.newHadoopConf``.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from py4j.protocol import Py4JJavaError

from paimonlab.errors import UnsupportedError
from paimonlab.spark.reading import s3_scan
from paimonlab.spark.reading.s3_scan import OwnScheme
from paimonlab.storage.disk_cache import CachingFileIO
from paimonlab.storage.read_only import ReadOnlyFileIO
from paimonlab.storage.schemes import HADOOP_PREFIX, HDFS, S3, store_kind

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.storage import FileIO
    from paimonlab.storage.hdfs.options import HdfsOptions

READER_KEY = "spark.paimonlab.hdfs.reader"
"""Setting of a Spark session: who reads tables on HDFS, ``auto``, ``python`` or ``spark``."""
S3_READER_KEY = "spark.paimonlab.s3.reader"
"""The same for tables in S3 and stores of its protocol."""
_READER_KEYS = {HDFS: READER_KEY, S3: S3_READER_KEY}
AUTO, PYTHON, SPARK = "auto", "python", "spark"
_CLASS = "org.apache.hadoop.hdfs.DistributedFileSystem"
_SERVICE = "dfs.client.failover.proxy.provider."
_NODES = "dfs.ha.namenodes."
_TOKENS = "HADOOP_TOKEN_FILE_LOCATION"
_OTHER_CLIENT = "the catalog reaches its files by a client that Hadoop does not have"
_COMPARED = ("dfs.", "fs.hdfs.", HADOOP_PREFIX)
"""How settings begin that are about HDFS, of those in files; the rest is about other things."""


@dataclass(frozen=True, slots=True)
class ScanChoice:
    """Who reads Parquet files, and why."""

    is_own: bool
    """Whether Spark's own scan does."""
    why: str
    scheme: OwnScheme | None = None
    """Under which name Spark's scan opens the files; None: under their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HadoopSeen:
    """What the Hadoop of a Spark session makes of a place on HDFS."""

    opened_by: str
    """The class that opens it; empty: there is none."""
    users: frozenset[str]
    """As whom the driver and the executors ask."""
    has_proof: bool
    """Whether they prove who they are, by Kerberos or a token."""
    is_service: bool
    """Whether its host is the name of a service, not of a machine."""
    settings: Mapping[str, str | None]
    """Values of the settings that the catalog's client goes by; None: it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSeen:
    """What the catalog's own client of HDFS goes by."""

    keeps: str = ""
    """Why our reader stays, whatever Hadoop does; empty: nothing is known against Spark's scan."""
    user: str = ""
    """As whom it asks; empty: unknown."""
    settings: Mapping[str, str]


def choose(path: str, client: ClientSeen, hadoop: HadoopSeen) -> ScanChoice:
    """Decide who reads a table on HDFS.

    Examples
    --------
    >>> client = ClientSeen(user="me", settings={"dfs.replication": "1"})
    >>> def seen(**settings: str) -> HadoopSeen:
    ...     return HadoopSeen(
    ...         opened_by="org.apache.hadoop.hdfs.DistributedFileSystem",
    ...         users=frozenset({"me"}),
    ...         has_proof=False,
    ...         is_service=False,
    ...         settings={key.replace("_", "."): value for key, value in settings.items()},
    ...     )
    >>> choose("hdfs://node:8020/w", client, seen(dfs_replication="1")).is_own
    True
    >>> choose("hdfs://node:8020/w", client, seen(dfs_replication="3")).why
    'the session has another dfs.replication than the catalog'
    """
    why = client.keeps or _against(path, client, hadoop)
    return ScanChoice(not why, why or "Spark's Hadoop opens it as the catalog does")


def _against(path: str, client: ClientSeen, hadoop: HadoopSeen) -> str:
    place = urlsplit(path)
    host = place.hostname or ""
    if hadoop.opened_by != _CLASS:
        return f"Spark's Hadoop opens {place.scheme}:// by {hadoop.opened_by or 'no class'}"
    if hadoop.has_proof:
        return "Spark's Hadoop uses Kerberos or tokens"
    if not client.user or hadoop.users != {client.user}:
        return "Spark and the catalog may be different users of HDFS"
    is_service = place.port is None
    if is_service != hadoop.is_service or (is_service and _NODES + host not in client.settings):
        return f"{host} may be another name node to Spark's Hadoop"
    for key, value in client.settings.items():
        if hadoop.settings.get(key) != value:
            return f"the session has another {key} than the catalog"
    return ""


def scan_choice(bridge: Bridge, file_io: FileIO, path: str) -> ScanChoice:
    """Decide who reads the Parquet files of a table, or of all tables of a warehouse.

    Parameters
    ----------
    bridge
        The session, which `READER_KEY` may tell.
    file_io
        The store.
    path
        Where the table or the warehouse is.

    Raises
    ------
    UnsupportedError
        If the setting asks for a reader that there is not.
    """
    kind = store_kind(path)
    if kind is None:
        return ScanChoice(is_own=True, why="the files are on a disk")
    if kind not in _READER_KEYS:
        return ScanChoice(is_own=False, why="Spark's own scan is for disks, hdfs:// and s3://")
    reader = _READER_KEYS[kind]
    asked = bridge.conf.getConfString(reader, AUTO)
    if asked == PYTHON:
        return ScanChoice(is_own=False, why=f"{reader} says so")
    if asked not in (AUTO, SPARK):
        raise UnsupportedError(f"{reader} = '{asked}'", f"use {AUTO}, {PYTHON} or {SPARK}")
    if asked == SPARK:
        return _as_asked(bridge, reader, urlsplit(path).scheme, is_s3=kind is S3)
    return _found_out(bridge, file_io, path, is_s3=kind is S3)


def _found_out(bridge: Bridge, file_io: FileIO, path: str, *, is_s3: bool) -> ScanChoice:
    store, kept = _store_of(file_io, path)
    if kept:
        return ScanChoice(is_own=False, why=kept)
    if is_s3:
        return _of_s3(bridge, store, path)
    client = _client(store, path)
    if client.keeps:
        return ScanChoice(is_own=False, why=client.keeps)
    return choose(path, client, _hadoop(bridge, path, client))


def _as_asked(bridge: Bridge, reader: str, scheme: str, *, is_s3: bool) -> ScanChoice:
    """Take Spark's scan with what the session has to reach the store."""
    why = f"{reader} says so"
    if _opened_by(bridge, scheme, _hadoop_settings(bridge)):
        return ScanChoice(is_own=True, why=why)
    if is_s3 and _opened_by(bridge, s3_scan.SCHEME, _hadoop_settings(bridge)):
        return ScanChoice(is_own=True, why=why, scheme=OwnScheme(s3_scan.SCHEME))
    raise UnsupportedError(
        f"{reader} = '{SPARK}'", f"the session's Hadoop has no class for {scheme}://"
    )


def _of_s3(bridge: Bridge, store: FileIO, path: str) -> ScanChoice:
    """Decide for a store of S3's protocol."""
    settings = _hadoop_settings(bridge)
    opened_by = _opened_by(bridge, s3_scan.SCHEME, settings)
    if opened_by != s3_scan.CLASS:
        by = f"opens {s3_scan.SCHEME}:// by {opened_by}" if opened_by else "has no hadoop-aws"
        return ScanChoice(is_own=False, why=f"Spark's Hadoop {by}")
    from paimonlab.storage.stores.object_file_io import ObjectFileIO  # noqa: PLC0415

    if not isinstance(store, ObjectFileIO):
        return ScanChoice(is_own=False, why=_OTHER_CLIENT)
    scheme = s3_scan.own_scheme(bridge, settings, store, path)
    if isinstance(scheme, str):
        return ScanChoice(is_own=False, why=scheme)
    return ScanChoice(is_own=True, why="Spark's Hadoop has hadoop-aws", scheme=scheme)


def _store_of(file_io: FileIO, path: str) -> tuple[FileIO, str]:
    """Return a store without what stands before it, and why our reader stays; empty: it may not."""
    while isinstance(file_io, ReadOnlyFileIO | CachingFileIO):
        if isinstance(file_io, CachingFileIO) and file_io.is_kept(
            f"{path}/bucket-0/data-0.parquet"
        ):
            return file_io, "local-cache.whitelist keeps data files on the local disk"
        file_io = file_io.store
    return file_io, ""


def _client(file_io: FileIO, path: str) -> ClientSeen:
    """Look at the client of a catalog."""
    from paimonlab.storage.hdfs.file_io import HdfsFileIO  # noqa: PLC0415
    from paimonlab.storage.hdfs.options import ClientKind, HdfsOptions  # noqa: PLC0415

    def kept(why: str) -> ClientSeen:
        return ClientSeen(keeps=why, settings={})

    if not isinstance(file_io, HdfsFileIO) or not isinstance(file_io.options, HdfsOptions):
        return kept(_OTHER_CLIENT)
    options = file_io.options
    if not path.startswith("hdfs://"):
        return kept("of HDFS Spark's own scan is for hdfs:// alone")
    if options.client is not ClientKind.NATIVE:
        return kept("the catalog reaches its files by libhdfs")
    if options.principal is not None or os.environ.get(_TOKENS):
        return kept("the catalog uses Kerberos or tokens")
    return ClientSeen(user=_user(), settings=_settings(options))


def _user() -> str:
    """Return as whom ``hdfs-native`` asks; empty: that is unknown."""
    try:
        return os.environ.get("HADOOP_USER_NAME") or pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return ""


def _settings(options: HdfsOptions) -> dict[str, str]:
    """Return the settings that ``hdfs-native`` goes by, those of files first."""
    from paimonlab.storage.hdfs.hadoop_files import hadoop_settings  # noqa: PLC0415

    folder = options.config_folder or os.environ.get("HADOOP_CONF_DIR")
    if folder is None and (home := os.environ.get("HADOOP_HOME")) is not None:
        folder = f"{home}/etc/hadoop"
    found = (hadoop_settings(folder) if folder else None) or {}
    of_hdfs = {key: value for key, value in found.items() if key.startswith(_COMPARED)}
    return of_hdfs | dict(options.config)


def _hadoop_settings(bridge: Bridge) -> Any:
    return bridge.session.sessionState().newHadoopConf()


def _opened_by(bridge: Bridge, scheme: str, settings: Any) -> str:
    files = bridge.java_class("org.apache.hadoop.fs.FileSystem")
    try:
        return str(files.getFileSystemClass(scheme, settings).getName())
    except Py4JJavaError:  # there is none, or its class is missing
        return ""


def _hadoop(bridge: Bridge, path: str, client: ClientSeen) -> HadoopSeen:
    """Ask the Hadoop of a session."""
    scheme, host = urlsplit(path).scheme, urlsplit(path).hostname or ""
    opened_by = _opened_by(bridge, scheme, _hadoop_settings(bridge))
    settings = _hadoop_settings(bridge)  # again: the class brings the files of HDFS into them
    groups = bridge.java_class("org.apache.hadoop.security.UserGroupInformation")
    me = groups.getCurrentUser()
    methods = {settings.get("hadoop.security.authentication"), str(me.getAuthenticationMethod())}
    return HadoopSeen(
        opened_by=opened_by,
        users=frozenset((me.getShortUserName(), bridge.session.sparkContext().sparkUser())),
        has_proof=groups.isSecurityEnabled()
        or bool(me.getTokens().size())
        or not {str(method).lower() for method in methods} <= {"simple"},
        is_service=settings.get(_SERVICE + host) is not None,
        settings={key: settings.get(key) for key in client.settings},
    )
