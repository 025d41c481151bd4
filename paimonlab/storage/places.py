"""URIs of stores: scheme, bucket and key."""

from __future__ import annotations

import re
from dataclasses import dataclass

from paimonlab.errors import CorruptMetadataError, UnsupportedError
from paimonlab.storage.schemes import AZURE, HDFS, STORES, WEBHDFS, store_kind

_URI = re.compile(r"(?P<scheme>[A-Za-z][\w+.-]*)://(?P<bucket>[^/?#\s]+)/?(?P<key>.*)", re.DOTALL)
_BUCKET = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_CONTAINER = re.compile(r"[A-Za-z0-9$][\w-]*@[a-z0-9][a-z0-9.-]*", re.ASCII)
_NAME_NODE = re.compile(r"[A-Za-z0-9][\w.-]*(?::\d{1,5})?", re.ASCII)
_WANTED = {
    AZURE.name: (_CONTAINER, "container@account.dfs.core.windows.net"),
    HDFS.name: (_NAME_NODE, "namenode:port, or the name of a service"),
    WEBHDFS.name: (_NAME_NODE, "namenode:port"),
}
_UNSAFE = frozenset(("", ".", ".."))


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object is, or the objects of a folder."""

    scheme: str
    bucket: str
    """On Azure ``container@account…``, the host of its account; on HDFS host and port."""
    key: str
    """Without ``/`` at its ends; empty: the whole bucket."""

    @property
    def uri(self) -> str:
        """Return it as a path of this store."""
        return f"{self.scheme}://{self.bucket}" + (f"/{self.key}" if self.key else "")

    def of(self, key: str) -> str:
        """Return the path of another key of the bucket."""
        return f"{self.scheme}://{self.bucket}/{key}"


def place_of(path: str) -> Place:
    """Take a path of an object store apart.

    Raises
    ------
    UnsupportedError
        If there is no store for its scheme.
    CorruptMetadataError
        If a part of the key is empty, ``.`` or ``..``, which stores change.

    Examples
    --------
    >>> place_of("s3://lake/w/db.db/t/")
    Place(scheme='s3', bucket='lake', key='w/db.db/t')
    """
    match = _URI.fullmatch(path)
    kind = store_kind(path)
    if match is None or kind is None:
        schemes = ", ".join(f"{scheme}:" for one in STORES for scheme in one.schemes)
        raise UnsupportedError(f"the path '{path}'", f"stores are {schemes}")
    scheme = match["scheme"].lower()
    pattern, what = _WANTED.get(kind.name, (_BUCKET, "the name of a bucket"))
    if not pattern.fullmatch(match["bucket"]):
        # Where keys have slashes, what looks like the bucket is a part of them.
        raise UnsupportedError(f"'{path}'", f"after {scheme}:// comes {what}; give keys as options")
    key = match["key"].strip("/")
    if key and not _UNSAFE.isdisjoint(key.split("/")):
        raise CorruptMetadataError(path, "a part of its key is empty, '.' or '..'")
    return Place(scheme, match["bucket"], key)
