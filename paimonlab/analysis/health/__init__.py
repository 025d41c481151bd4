"""How well tables are maintained: measures, rules over them, and what these find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.analysis.health import catalog_health as catalog_health
    from paimonlab.analysis.health import folder_check as folder_check
    from paimonlab.analysis.health import measures as measures
    from paimonlab.analysis.health import report as report

__getattr__, __dir__ = attributes_on_use(
    __name__, "catalog_health", "folder_check", "measures", "report"
)
