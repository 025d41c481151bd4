"""The part of Spark's catalog interface that a filesystem catalog has nothing for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.namespaces import Namespaces
from paimonlab.spark.jvm.bridge import CONNECTOR


class WithoutViews(Namespaces):
    """The part of `SparkCatalog` that answers for views: there are none."""

    def listViews(self, namespace: Sequence[str]) -> Any:
        """Return nothing."""
        del namespace
        return self._bridge.array(CONNECTOR + "catalog.Identifier", [])

    def viewExists(self, identifier: Any) -> bool:
        """Say no."""
        del identifier
        return False

    def loadView(self, identifier: Any) -> None:
        """Say that there is none."""
        self._throw("NoSuchViewException", identifier)

    def invalidateView(self, identifier: Any) -> None:
        """Forget nothing."""

    def createView(self, identifier: Any, *_: Any) -> None:
        """Refuse."""
        raise UnsupportedError(
            f"CREATE VIEW {identifier.name()} in catalog {self._name}",
            "a filesystem catalog keeps no views; CREATE TEMPORARY VIEW works",
        )

    replaceView = createOrReplaceView = createView

    def dropView(self, identifier: Any) -> bool:
        """Say that there was none."""
        del identifier
        return False

    def renameView(self, old: Any, new: Any) -> None:
        """Say that there is none."""
        del new
        self._throw("NoSuchViewException", old)
