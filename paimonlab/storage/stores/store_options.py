"""From the options of a catalog to those of the store that a path is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from paimonlab.errors import UnsupportedError
from paimonlab.storage.schemes import AZURE, COSN, GCS, OBS, OSS, S3, store_kind
from paimonlab.storage.stores.azure_options import AzureOptions, azure_options
from paimonlab.storage.stores.cloud_options import cosn_options, obs_options, oss_options
from paimonlab.storage.stores.gcs_options import GcsOptions, gcs_options
from paimonlab.storage.stores.s3_options import S3Options, s3_options

StoreOptions: TypeAlias = S3Options | GcsOptions | AzureOptions

_READERS: Mapping[str, Callable[[Mapping[str, str]], StoreOptions]] = {
    S3.name: s3_options,
    GCS.name: gcs_options,
    AZURE.name: azure_options,
    OSS.name: oss_options,
    COSN.name: cosn_options,
    OBS.name: obs_options,
}


def store_options(path: str, options: Mapping[str, str]) -> StoreOptions:
    """Read the options of the store that a path is in among those of a catalog.

    Raises
    ------
    UnsupportedError
        If there is no such store, or an option is not implemented.
    ValueError
        If a value is not allowed or missing.
    """
    kind = store_kind(path)
    if kind is None or kind.name not in _READERS:
        raise UnsupportedError(f"the path '{path}'", "it is not in an object store")
    return _READERS[kind.name](options)


def service_of(options: StoreOptions) -> str:
    """Return the name of the store."""
    if isinstance(options, S3Options):
        return options.service
    return GCS.name if isinstance(options, GcsOptions) else AZURE.name
