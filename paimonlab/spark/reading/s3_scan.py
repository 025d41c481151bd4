"""Files of a bucket, opened by the Hadoop of a Spark session with the keys of a catalog.

Hadoop keeps one open file system for each scheme and bucket, whatever the settings of whoever asks
for it next: where two catalogs have two keys for one bucket, or two stores have buckets of one
name, both would read by what came first. So each way to a store gets a scheme of its own here,
which the same class of Hadoop opens. Its settings go to the scan alone: into no session, plan
or page.

Sources: apache/hadoop@3.5.0 ``FileSystem.Cache.Key``, ``FileSystem.getFileSystemClass``,
``S3xLoginHelper.checkPath`` (any scheme will do), ``S3AUtils.propagateBucketOptions`` (settings of
a bucket go before others), ``S3AUtils.lookupPassword``; apache/spark@v4.3.0
``FileSourceScanExec.inputRDD``.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from py4j.protocol import Py4JJavaError

from paimonlab.secrets import HIDDEN, without_secrets

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.storage.stores.connecting import S3Access
    from paimonlab.storage.stores.object_file_io import ObjectFileIO

SCHEME = "s3a"
"""That of Hadoop's class for stores of S3's protocol."""
CLASS = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_PREFIX = "fs.s3a."
_PROVIDERS = "org.apache.hadoop.fs.s3a."
_STORES_OF_KEYS = ("hadoop.security.credential.provider.path", "security.credential.provider.path")
"""Settings that name stores of keys, which go before keys in settings; the second is S3A's."""
_ELSEWHERE = ("accesspoint.arn", "delegation.token.binding")
"""Settings of S3A by which it reads another bucket, or by other keys."""
_ENCRYPTIONS = ("encryption.algorithm", "server-side-encryption-algorithm")
_OWN_ENCRYPTIONS = ("sse-c", "cse-")
"""Of these objects are read with keys that only S3A has."""
_SALT = secrets.token_bytes(16)
"""Makes schemes those of this process: the JVM may have served another before."""


@dataclass(frozen=True, slots=True)
class OwnScheme:
    """Under which name the Hadoop of a session opens a store as a catalog does."""

    name: str
    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """For Hadoop, keys among them."""


def own_scheme(bridge: Bridge, settings: Any, file_io: ObjectFileIO, path: str) -> OwnScheme | str:
    """Return how the Hadoop of a session opens a table or warehouse, after it did once.

    Parameters
    ----------
    bridge
        The session, whose Hadoop has the class.
    settings
        A ``Configuration`` of the session, which is changed.
    file_io
        The store of a catalog in S3.
    path
        Where the table or the warehouse is.

    Returns
    -------
    OwnScheme or str
        Why it does not, in words that follow ``by Python, as``.
    """
    from paimonlab.storage.stores.connecting import s3_access  # noqa: PLC0415 - obstore is an extra
    from paimonlab.storage.stores.s3_options import S3Options  # noqa: PLC0415

    options = file_io.options
    assert isinstance(options, S3Options), "the store is one of S3"
    if options.renewal is not None:
        return "the catalog's server gives keys that expire"
    bucket = urlsplit(path).netloc
    given = bridge.texts_of_map(settings.getPropsWithPrefix(_PREFIX))
    access = _with_environment(s3_access(options))
    why = against(given, bucket, access, (settings.get(key) for key in _STORES_OF_KEYS[:1]))
    if why:
        return why
    own = hadoop_settings(access)
    name = _name(given, own)
    of_bucket = {f"{_PREFIX}bucket.{bucket}.{key}": value for key, value in own.items()}
    scheme = OwnScheme(name, ((f"fs.{name}.impl", CLASS), *of_bucket.items()))
    # Keys of the session may open one folder of a bucket and not another.
    tried = bucket if access.keys is not None or access.is_anonymous else path
    problem = bridge.once(
        ("tried", name, tried), lambda: _problem(bridge, settings, scheme, path, options.secrets)
    )
    return scheme if problem == "" else f"Spark's Hadoop does not open it: {problem}"


def against(
    given: Mapping[str, str], bucket: str, access: S3Access, stores_of_keys: Any = ()
) -> str:
    """Say what in a session keeps its Hadoop from opening a bucket as a catalog does.

    Parameters
    ----------
    given
        Settings of S3A in the session, without their prefix.
    bucket
        The bucket.
    access
        How the catalog reaches it.
    stores_of_keys
        Values of Hadoop's setting that names stores of keys.

    Returns
    -------
    str
        Empty: nothing.

    Examples
    --------
    >>> from paimonlab.storage.stores.connecting import S3Access
    >>> role = S3Access(None, "us-east-1", False, False, None)
    >>> against({"encryption.algorithm": "SSE-KMS"}, "lake", role)
    ''
    >>> against({"bucket.lake.encryption.algorithm": "CSE-KMS"}, "lake", role)
    "the session has fs.s3a.encryption.algorithm = 'CSE-KMS'"
    """

    def value(key: str) -> str:
        return given.get(f"bucket.{bucket}.{key}") or given.get(key) or ""

    for key in _ELSEWHERE:
        if value(key):
            return f"the session has {_PREFIX}{key}"
    for key in _ENCRYPTIONS:
        if value(key).lower().startswith(_OWN_ENCRYPTIONS):
            return f"the session has {_PREFIX}{key} = '{value(key)}'"
    if access.keys is not None and (value(_STORES_OF_KEYS[1]) or any(stores_of_keys)):
        return "the session takes keys from a store of keys, which go before the catalog's"
    return ""


def hadoop_settings(access: S3Access) -> dict[str, str]:
    """Return what S3A calls the ways to a store, by its names without prefix.

    Keys are left to the session where the catalog names none.

    Examples
    --------
    >>> from paimonlab.storage.stores.connecting import S3Access
    >>> hadoop_settings(S3Access("http://127.0.0.1:9000", "us-east-1", True, True, None))
    ... # doctest: +NORMALIZE_WHITESPACE
    {'endpoint': 'http://127.0.0.1:9000', 'endpoint.region': 'us-east-1',
     'path.style.access': 'true',
     'aws.credentials.provider': 'org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider'}
    """
    own = {
        "endpoint": access.endpoint or "",
        "endpoint.region": access.region,
        "path.style.access": "true" if access.is_path_style else "false",
    }
    if access.is_anonymous:
        own["aws.credentials.provider"] = f"{_PROVIDERS}AnonymousAWSCredentialsProvider"
    elif access.keys is not None:
        kind = "Simple" if access.keys.token is None else "Temporary"
        own |= {
            "aws.credentials.provider": f"{_PROVIDERS}{kind}AWSCredentialsProvider",
            "access.key": access.keys.access_key,
            "secret.key": access.keys.secret_key,
            "session.token": access.keys.token or "",
        }
    return own


def _with_environment(access: S3Access) -> S3Access:
    """Return it with the keys of the environment, where neither options nor a profile have any."""
    from paimonlab.storage.stores.keys import Keys  # noqa: PLC0415

    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
    key, secret, token = (os.environ.get(name) for name in names)
    if access.keys is not None or access.is_anonymous or not (key and secret):
        return access
    return access._replace(keys=Keys(key, secret, token or None))


def _name(given: Mapping[str, str], own: Mapping[str, str]) -> str:
    """Return a scheme that is one of these settings alone, in this process alone."""
    text = repr((sorted(given.items()), sorted(own.items())))
    return f"{SCHEME}-{hmac.digest(_SALT, text.encode(), hashlib.sha256).hex()[:12]}"


def _problem(
    bridge: Bridge, settings: Any, scheme: OwnScheme, path: str, keys: Iterable[str | None]
) -> str:
    """Look into a table or warehouse by Hadoop; return what goes wrong, empty: nothing."""
    for key, value in scheme.settings:
        settings.set(key, value)
    place = bridge.jvm.org.apache.hadoop.fs.Path(in_scheme(f"{path}/schema", scheme))
    try:
        place.getFileSystem(settings).exists(place)
    except Py4JJavaError as error:
        said = str(error.java_exception.getMessage() or "").partition("\n")[0]
        for key in filter(None, keys):
            said = said.replace(key, HIDDEN)
        kind = error.java_exception.getClass().getSimpleName()
        return without_secrets(f"{kind}: {said}".replace(f"{scheme.name}://", f"{SCHEME}://"))
    return ""


def in_scheme(uri: str, scheme: OwnScheme | None) -> str:
    """Return under which name Hadoop opens a file.

    Examples
    --------
    >>> in_scheme("s3://lake/t/a.parquet", OwnScheme("s3a-1")), in_scheme("hdfs://n/a", None)
    ('s3a-1://lake/t/a.parquet', 'hdfs://n/a')
    """
    return uri if scheme is None else f"{scheme.name}://{uri.partition('://')[2]}"
