"""Keys of stores of S3's protocol that no option gives: of the environment, and of profiles."""

from __future__ import annotations

import os
from typing import NamedTuple

from paimonlab.storage.schemes import COSN, OBS, OSS
from paimonlab.storage.stores import aliyun_profiles


class Keys(NamedTuple):
    """What requests are signed with."""

    access_key: str
    secret_key: str
    token: str | None


class AzureKey(NamedTuple):
    """By what requests to Azure's storage are allowed."""

    kind: str
    """``access_key`` or ``sas_token``."""
    value: str


class BearerToken(NamedTuple):
    """By what requests to Google Cloud Storage are allowed."""

    value: str


_VARIABLES = {
    OSS.name: (
        ("OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET", "OSS_SESSION_TOKEN"),
        (
            "ALIBABA_CLOUD_ACCESS_KEY_ID",
            "ALIBABA_CLOUD_ACCESS_KEY_SECRET",
            "ALIBABA_CLOUD_SECURITY_TOKEN",
        ),
    ),
    COSN.name: (("COSN_SECRET_ID", "COSN_SECRET_KEY", "COSN_SESSION_TOKEN"),),
    OBS.name: (("OBS_ACCESS_KEY_ID", "OBS_SECRET_ACCESS_KEY", "OBS_SECURITY_TOKEN"),),
}
"""Of each service, as its own tools call them: key, secret, token."""
_OPTIONS = {
    OSS.name: "fs.oss.accessKeyId and fs.oss.accessKeySecret",
    COSN.name: "fs.cosn.userinfo.secretId and fs.cosn.userinfo.secretKey",
    OBS.name: "fs.obs.access.key and fs.obs.secret.key",
}


def keys_of(service: str) -> Keys:
    """Find keys of a service other than AWS.

    Raises
    ------
    ValueError
        If there are none; it says where they may be.
    """
    for names in _VARIABLES[service]:
        key, secret, token = (os.environ.get(name) for name in names)
        if key and secret:
            return Keys(key, secret, token or None)
    found = aliyun_profiles.profile() if service == OSS.name else {}
    if found.get("access_key_id") and found.get("access_key_secret"):
        token = found.get("sts_token")
        return Keys(found["access_key_id"], found["access_key_secret"], token or None)
    variables = " and ".join(_VARIABLES[service][0][:2])
    raise ValueError(
        f"there are no keys of {service}: give {_OPTIONS[service]}, or set {variables}"
    )
