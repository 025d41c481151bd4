"""What lives as long as the kernel: progress, interrupts, front ends, selection, widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.notebook.kernel import spark_work as spark_work
    from paimonlab.notebook.kernel import widget as widget

__getattr__, __dir__ = attributes_on_use(__name__, "spark_work", "widget")
