"""How deltalake and pyiceberg reach tables in the store of a warehouse: as the catalog does.

Sources: delta-io/delta-rs docs ``integrations/object-storage/s3``, apache/iceberg-python docs
``configuration`` (S3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.storage import FileIO
from paimonlab.storage.disk_cache import CachingFileIO
from paimonlab.storage.read_only import ReadOnlyFileIO
from paimonlab.storage.schemes import S3, store_kind

if TYPE_CHECKING:
    from paimonlab.storage.stores.connecting import S3Access


def s3_access_of(io: FileIO, place: str) -> S3Access | None:
    """Return how a place in S3 is reached; None: it is elsewhere, or the keys expire.

    Examples
    --------
    >>> from paimonlab.storage import LocalFileIO
    >>> s3_access_of(LocalFileIO(), "/lake/t")
    """
    if store_kind(place) is not S3:
        return None
    while isinstance(io, ReadOnlyFileIO | CachingFileIO):
        io = io.store
    from paimonlab.storage.stores.connecting import s3_access  # noqa: PLC0415 - obstore is an extra
    from paimonlab.storage.stores.object_file_io import ObjectFileIO  # noqa: PLC0415
    from paimonlab.storage.stores.s3_options import S3Options  # noqa: PLC0415

    if not isinstance(io, ObjectFileIO) or not isinstance(io.options, S3Options):
        return None
    return None if io.options.renewal is not None else s3_access(io.options)


def in_s3(place: str) -> str:
    """Return the address by which both libraries know a place in S3.

    Examples
    --------
    >>> in_s3("s3a://lake/t")
    's3://lake/t'
    """
    return f"s3://{place.partition('://')[2]}"


def delta_options(access: S3Access) -> dict[str, str]:
    """Return what deltalake calls the ways to a store.

    Examples
    --------
    >>> from paimonlab.storage.stores.connecting import S3Access
    >>> delta_options(S3Access(None, "eu-west-1", False, True, None))
    {'aws_region': 'eu-west-1', 'aws_skip_signature': 'true'}
    """
    found = {"aws_region": access.region}
    if access.endpoint is not None:
        is_virtual = "false" if access.is_path_style else "true"
        found["aws_endpoint"] = access.endpoint
        found["aws_virtual_hosted_style_request"] = is_virtual
        if access.endpoint.startswith("http://"):
            found["aws_allow_http"] = "true"
    if access.is_anonymous:
        found["aws_skip_signature"] = "true"
    if access.keys is not None:
        found["aws_access_key_id"] = access.keys.access_key
        found["aws_secret_access_key"] = access.keys.secret_key
        if access.keys.token is not None:
            found["aws_session_token"] = access.keys.token
    return found


def iceberg_properties(access: S3Access) -> dict[str, str]:
    """Return what pyiceberg calls the ways to a store.

    Examples
    --------
    >>> from paimonlab.storage.stores.connecting import S3Access
    >>> iceberg_properties(S3Access("http://127.0.0.1:9000", "us-east-1", True, True, None))
    ... # doctest: +NORMALIZE_WHITESPACE
    {'s3.region': 'us-east-1', 's3.endpoint': 'http://127.0.0.1:9000', 's3.anonymous': 'true'}
    """
    found = {"s3.region": access.region}
    if access.endpoint is not None:
        found["s3.endpoint"] = access.endpoint
        if not access.is_path_style:
            found["s3.force-virtual-addressing"] = "true"
    if access.is_anonymous:
        found["s3.anonymous"] = "true"
    if access.keys is not None:
        found["s3.access-key-id"] = access.keys.access_key
        found["s3.secret-access-key"] = access.keys.secret_key
        if access.keys.token is not None:
            found["s3.session-token"] = access.keys.token
    return found
