"""URIs of objects: scheme, bucket and key."""

from __future__ import annotations

import re
from dataclasses import dataclass

from paimonlab.errors import CorruptMetadataError, UnsupportedError

S3_SCHEMES = ("s3", "s3a", "s3n")
_URI = re.compile(r"(?P<scheme>[A-Za-z][\w+.-]*)://(?P<bucket>[^/?#\s]+)/?(?P<key>.*)", re.DOTALL)
_BUCKET = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_UNSAFE = frozenset(("", ".", ".."))


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object is, or the objects of a folder."""

    scheme: str
    bucket: str
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
    scheme = match["scheme"].lower() if match else path.partition(":")[0]
    if match is None or scheme not in S3_SCHEMES:
        raise UnsupportedError(f"the path '{path}'", "the warehouse is on S3, as s3://bucket/…")
    if not _BUCKET.fullmatch(match["bucket"]):
        # Where keys have slashes, what looks like the bucket is a part of them.
        raise UnsupportedError(
            f"'{path}'", "after s3:// comes the name of a bucket; give keys as options"
        )
    key = match["key"].strip("/")
    if key and not _UNSAFE.isdisjoint(key.split("/")):
        raise CorruptMetadataError(path, "a part of its key is empty, '.' or '..'")
    return Place(scheme, match["bucket"], key)
