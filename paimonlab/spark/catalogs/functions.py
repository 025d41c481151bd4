"""Functions of the catalog in Spark, all of them in ``sys``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from paimonlab.spark.catalogs.bucket_functions import DefaultBucket, ModBucket
from paimonlab.spark.catalogs.max_pt import MaxPartition
from paimonlab.spark.catalogs.namespaces import Namespaces
from paimonlab.spark.jvm.bridge import CONNECTOR, Proxy

NAMESPACE = "sys"
"""Where functions are, in upper or lower case."""
FUNCTIONS: Mapping[str, type[Proxy]] = MappingProxyType(
    {"bucket": DefaultBucket, "max_pt": MaxPartition, "mod_bucket": ModBucket}
)
"""By their names."""


class Functions(Namespaces):
    """The part of `SparkCatalog` that knows functions."""

    def listFunctions(self, namespace: Sequence[str]) -> Any:
        """Return those of ``sys``; databases have none."""
        names = sorted(FUNCTIONS) if _is_ours(namespace) else []
        identifiers = [self._bridge.identifier([NAMESPACE], name) for name in names]
        return self._bridge.array(CONNECTOR + "catalog.Identifier", identifiers)

    def functionExists(self, identifier: Any) -> bool:
        """Say whether there is such a function."""
        return _is_ours(identifier.namespace()) and str(identifier.name()).lower() in FUNCTIONS

    def loadFunction(self, identifier: Any) -> Any:
        """Return a function, not bound to types yet."""
        name = str(identifier.name()).lower()
        if not _is_ours(identifier.namespace()) or name not in FUNCTIONS:
            self._throw("NoSuchFunctionException", identifier)
        return FUNCTIONS[name](self._bridge)


def _is_ours(namespace: Sequence[str]) -> bool:
    return [str(part).lower() for part in namespace] == [NAMESPACE]
