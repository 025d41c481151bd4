"""What scans and writes have in common that Spark asks for metrics and that have none."""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import CONNECTOR, Proxy


class Unmeasured(Proxy):
    """Reports no metrics, neither of tasks nor of the driver."""

    def supportedCustomMetrics(self) -> Any:
        """Return none."""
        return self._bridge.array(CONNECTOR + "metric.CustomMetric", [])

    def reportDriverMetrics(self) -> Any:
        """Return none."""
        return self._bridge.array(CONNECTOR + "metric.CustomTaskMetric", [])
