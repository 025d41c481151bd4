"""Functions of the catalog in Spark: those of ``sys``, and names of those it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.errors import UnsupportedError
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
        """Return those of ``sys``, or those that the catalog keeps in a database."""
        if _is_ours(namespace):
            place, names = [NAMESPACE], sorted(FUNCTIONS)
        else:
            place, names = list(namespace), self._kept_names(namespace)
        identifiers = [self._bridge.identifier(place, name) for name in names]
        return self._bridge.array(CONNECTOR + "catalog.Identifier", identifiers)

    def functionExists(self, identifier: Any) -> bool:
        """Say whether there is such a function."""
        if _is_ours(identifier.namespace()):
            return str(identifier.name()).lower() in FUNCTIONS
        return str(identifier.name()) in self._kept_names(identifier.namespace())

    def loadFunction(self, identifier: Any) -> Any:
        """Return a function, not bound to types yet.

        Raises
        ------
        UnsupportedError
            For a function that the catalog keeps: its text is not run.
        """
        name = str(identifier.name()).lower()
        if not _is_ours(identifier.namespace()) and self.functionExists(identifier):
            raise UnsupportedError(
                f"{'.'.join([*identifier.namespace(), identifier.name()])}, a function that the "
                "catalog keeps,",
                "its definition is kept and not run: CREATE TEMPORARY FUNCTION works",
            )
        if not _is_ours(identifier.namespace()) or name not in FUNCTIONS:
            self._throw("NoSuchFunctionException", identifier)
        return FUNCTIONS[name](self._bridge)

    def _kept_names(self, namespace: Sequence[str]) -> list[str]:
        if not isinstance(self._catalog, FunctionCatalog) or not self._exists(namespace):
            return []
        return self._catalog.functions(self._database(namespace))


def _is_ours(namespace: Sequence[str]) -> bool:
    return [str(part).lower() for part in namespace] == [NAMESPACE]
