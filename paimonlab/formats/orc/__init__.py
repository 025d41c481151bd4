"""ORC data files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.formats.orc.description import describe_orc
    from paimonlab.formats.orc.fields import check_fields
    from paimonlab.formats.orc.input import OrcInput
    from paimonlab.formats.orc.writer import OrcWriter

__all__ = ["OrcInput", "OrcWriter", "check_fields", "describe_orc"]

__getattr__, __dir__ = attributes_on_use(
    __name__,
    OrcInput="input",
    OrcWriter="writer",
    check_fields="fields",
    describe_orc="description",
)
