"""Options of the stores of Alibaba, Tencent and Huawei, which speak S3's protocol as well.

Sources: apache/paimon@1.3.1 ``OSSFileIO``, ``COSNFileIO``, ``OBSFileIO``; Hadoop's Aliyun and COS
connectors; help.aliyun.com, "Use AWS SDKs to access OSS" (hosts) and "PutObject"
(``x-oss-forbid-overwrite``); cloud.tencent.com/document/product/436/7749
(``x-cos-forbid-overwrite``). support.huaweicloud.com, "Uploading an Object - PUT", has no condition
among the headers of OBS; ``x-obs-forbid-overwrite`` is what clients of others send it. The probe of
`paimonlab.storage.stores.probing` finds out whether it is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from paimonlab.storage.schemes import COSN, OBS, OSS, StoreKind, named_options, refuse_unknown
from paimonlab.storage.stores.option_values import OptionValues
from paimonlab.storage.stores.s3_options import S3Options

_OSS_HOST = re.compile(
    r"(?P<scheme>https?://)(?:s3\.)?(?P<host>oss-(?P<region>[a-z0-9-]+)\.aliyuncs\.com)"
)
_COS_HOST = re.compile(r"https?://cos\.(?P<region>[a-z0-9-]+)\.(?:myqcloud|tencentcos)\.")
_OBS_HOST = re.compile(r"https?://obs\.(?P<region>[a-z0-9-]+)\.myhuaweicloud\.")
_NUMBERS = re.compile(r"https?://[\d.]+(?::\d+)?$")
"""Addresses before which no bucket can stand."""
_INTERNAL = ("-internal", "-vpc")


def oss_options(options: Mapping[str, str]) -> S3Options:
    """Read the options of OSS among those of a catalog.

    Raises
    ------
    UnsupportedError
        If an option is not implemented, in all functions of this module.
    ValueError
        If two names of one option have different values, a value is not allowed or missing.
    """
    given = _given(OSS, options, _OSS_KNOWN)
    endpoint = given.address("endpoint", has_ssl=given.boolean("connection.secure.enabled"))
    region = given.text("region")
    if endpoint is None and region:
        endpoint = f"https://oss-{region.removeprefix('oss-')}.aliyuncs.com"
    if endpoint is None:
        raise ValueError("the option 'fs.oss.endpoint' is missing: oss-cn-hangzhou.aliyuncs.com …")
    known = _OSS_HOST.fullmatch(endpoint)
    if known:
        endpoint = f"{known['scheme']}s3.{known['host']}"
        in_host = known["region"]
        for ending in _INTERNAL:
            in_host = in_host.removesuffix(ending)
        region = region or in_host
    return _made(
        OSS,
        given,
        ("accesskeyid", "accesskeysecret", "securitytoken"),
        endpoint=endpoint,
        region=(region or "").removeprefix("oss-"),
        is_path_style=bool(given.boolean("sld.enabled")),
        is_bucket_in_endpoint=bool(given.boolean("cname.enabled")),
        forbid_header="x-oss-forbid-overwrite",
    )


def cosn_options(options: Mapping[str, str]) -> S3Options:
    """Read the options of COS among those of a catalog."""
    given = _given(COSN, options, _COSN_KNOWN)
    region = given.text("bucket.region")
    suffix = given.address("bucket.endpoint.suffix", has_ssl=given.boolean("use.https"))
    if suffix is None and region is None:
        raise ValueError("the option 'fs.cosn.bucket.region' is missing: ap-guangzhou …")
    endpoint = suffix or f"https://cos.{region}.myqcloud.com"
    known = _COS_HOST.match(endpoint)
    return _made(
        COSN,
        given,
        ("userinfo.secretid", "userinfo.secretkey", "userinfo.sessiontoken"),
        endpoint=endpoint,
        region=region or (known["region"] if known else ""),
        is_path_style=_NUMBERS.match(endpoint) is not None,
        forbid_header="x-cos-forbid-overwrite",
    )


def obs_options(options: Mapping[str, str]) -> S3Options:
    """Read the options of OBS among those of a catalog."""
    given = _given(OBS, options, _OBS_KNOWN)
    endpoint = given.address("endpoint", has_ssl=given.boolean("connection.ssl.enabled"))
    if endpoint is None:
        raise ValueError(
            "the option 'fs.obs.endpoint' is missing: obs.cn-north-4.myhuaweicloud.com"
        )
    known = _OBS_HOST.match(endpoint)
    return _made(
        OBS,
        given,
        ("access.key", "secret.key", "session.token"),
        endpoint=endpoint,
        region=known["region"] if known else "",
        is_path_style=bool(given.boolean("path.style.access")),
        forbid_header="x-obs-forbid-overwrite",
    )


def _given(kind: StoreKind, options: Mapping[str, str], known: frozenset[str]) -> OptionValues:
    values, keys = named_options(kind, options)
    refuse_unknown(values, keys, known)
    return OptionValues(values, keys)


def _made(
    kind: StoreKind,
    given: OptionValues,
    names: tuple[str, str, str],
    *,
    endpoint: str,
    region: str,
    is_path_style: bool,
    forbid_header: str,
    is_bucket_in_endpoint: bool = False,
) -> S3Options:
    access, secret, token = map(given.text, names)
    if (access is None) != (secret is None) or (token and access is None):
        raise ValueError(f"of the keys of {kind.name} only some are given: an id and a secret")
    return S3Options(
        service=kind.name,
        endpoint=endpoint,
        region=region or None,
        is_path_style=is_path_style,
        is_bucket_in_endpoint=is_bucket_in_endpoint,
        forbid_header=forbid_header,
        access_key=access,
        secret_key=secret,
        session_token=token,
        max_retries=given.number("attempts.maximum", 10),
        timeout_millis=given.number("connection.timeout", 60_000),
        connect_timeout_millis=given.number("connection.establish.timeout", 10_000),
    )


_CLIENT = frozenset(("attempts.maximum", "connection.timeout", "connection.establish.timeout"))
_OSS_KNOWN = _CLIENT | {
    "accesskeyid",
    "accesskeysecret",
    "cname.enabled",
    "connection.secure.enabled",
    "endpoint",
    "region",
    "securitytoken",
    "sld.enabled",
}
_COSN_KNOWN = _CLIENT | {
    "bucket.endpoint.suffix",
    "bucket.region",
    "use.https",
    "userinfo.secretid",
    "userinfo.secretkey",
    "userinfo.sessiontoken",
}
_OBS_KNOWN = _CLIENT | {
    "access.key",
    "connection.ssl.enabled",
    "endpoint",
    "path.style.access",
    "secret.key",
    "session.token",
}
