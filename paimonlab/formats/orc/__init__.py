"""ORC data files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.formats.orc.description import describe_orc
    from paimonlab.formats.orc.input import OrcInput

__all__ = ["OrcInput", "describe_orc"]

__getattr__, __dir__ = attributes_on_use(__name__, OrcInput="input", describe_orc="description")
