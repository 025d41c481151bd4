"""Short declarations of parameters and columns of procedures."""

from __future__ import annotations

from paimonlab.procedures.procedure import Parameter
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type


def required(name: str, type_text: str, description: str) -> Parameter:
    """Declare what a call must have."""
    return Parameter(
        name=name, type=parse_type(type_text), is_required=True, description=description
    )


def optional(name: str, type_text: str, description: str) -> Parameter:
    """Declare what a call may have."""
    return Parameter(
        name=name, type=parse_type(type_text), is_required=False, description=description
    )


def columns(**types: str) -> tuple[DataField, ...]:
    """Declare the columns of a result: names and types as text."""
    return tuple(
        DataField(number, name, parse_type(text))
        for number, (name, text) in enumerate(types.items())
    )


TABLE = required("table", "STRING", "The table, as database.table.")
RESULT = columns(result="BOOLEAN")
"""One row: true."""
DONE = ((True,),)
"""The rows of a procedure that has nothing else to say."""
