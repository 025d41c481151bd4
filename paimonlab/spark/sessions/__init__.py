"""Sessions, servers and machines: starting them, connecting, looking at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.spark.sessions import doctor as doctor
    from paimonlab.spark.sessions import environment as environment
    from paimonlab.spark.sessions import remote as remote

__getattr__, __dir__ = attributes_on_use(__name__, "doctor", "environment", "remote")
