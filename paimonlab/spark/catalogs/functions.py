"""Functions of the catalog in Spark: those of ``sys``, and names of those it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.bucket_functions import DefaultBucket, HiveBucket, ModBucket
from paimonlab.spark.catalogs.max_pt import MaxPartition
from paimonlab.spark.catalogs.namespaces import Namespaces
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy

NAMESPACE = "sys"
"""Where functions are, in upper or lower case."""
FUNCTIONS: Mapping[str, type[Proxy]] = MappingProxyType(
    {
        "bucket": DefaultBucket,
        "hive_bucket": HiveBucket,
        "max_pt": MaxPartition,
        "mod_bucket": ModBucket,
    }
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
        """Return a function, not bound to types yet."""
        name = str(identifier.name()).lower()
        if not _is_ours(identifier.namespace()) and self.functionExists(identifier):
            return _Kept(self._bridge, [*identifier.namespace(), identifier.name()])
        if not _is_ours(identifier.namespace()) or name not in FUNCTIONS:
            self._throw("NoSuchFunctionException", identifier)
        return FUNCTIONS[name](self._bridge)

    def _kept_names(self, namespace: Sequence[str]) -> list[str]:
        if not isinstance(self._catalog, FunctionCatalog) or not self._exists(namespace):
            return []
        return self._catalog.functions(self._database(namespace))


def _is_ours(namespace: Sequence[str]) -> bool:
    return [str(part).lower() for part in namespace] == [NAMESPACE]


class _Kept(Proxy):
    """A function that the catalog keeps, for who only asks whether it is there.

    Calls of SQL functions are found before Spark asks for them (`sql_function_calls`).
    """

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.functions.UnboundFunction"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, parts: Sequence[str]) -> None:
        super().__init__(bridge)
        self._parts = [str(part) for part in parts]

    def name(self) -> str:
        """Return its name."""
        return self._parts[-1]

    def description(self) -> str:
        """Say where it is."""
        return f"{'.'.join(self._parts)}: DESCRIBE FUNCTION shows it"

    def bind(self, input_type: Any) -> Any:
        """Refuse to call it.

        Raises
        ------
        UnsupportedError
            Says what can be called.
        """
        del input_type
        raise UnsupportedError(
            f"{'.'.join(self._parts)}, a function that the catalog keeps,",
            "Spark runs those in SQL that give a value of one row, called in a query; "
            "CREATE TEMPORARY FUNCTION works",
        )
