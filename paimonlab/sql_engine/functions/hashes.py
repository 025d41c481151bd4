"""Functions that hash their arguments: computed in `row_hashes`, which DuckDB calls."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.types.data_types import ArrayType, AtomicType, DataType, MapType, RowType
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.functions.signatures import Translate, WrongUseError, named
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value

SEED = 42
"""The hash of nothing, and of NULL."""
MURMUR3 = "spark_hash"
XXHASH64 = "spark_xxhash64"
"""What they are called in DuckDB's SQL."""


def _hashed(name: str, duck: str, kind: Kind) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        if not values:
            raise WrongUseError
        # 1 as INT and as BIGINT have other hashes: DuckDB's type has to be the expression's.
        texts = [
            f"CAST({value.text} AS {_type(value.kind, name)})"
            for value in values
            if value.kind != kinds.VOID
        ]
        text = (
            f"{duck}({', '.join(texts)})" if texts else f"CAST({SEED} AS {kinds.duck_type(kind)})"
        )
        return Value(text, kind, named(name, values))

    return translate


def _type(kind: Kind | None, name: str) -> str:
    """Name a type as DuckDB does, also a nested one."""
    match kind:
        case AtomicType():
            return kinds.duck_type(kind)
        case ArrayType():
            return f"{_part(kind.element, name)}[]"
        case RowType() if kind.fields:
            fields = (f"{_quoted(one.name)} {_part(one.type, name)}" for one in kind.fields)
            return f"STRUCT({', '.join(fields)})"
        case MapType():
            hint = f"Spark refuses maps as well; write {name}(map_entries(m))"
            raise NotTranslatedError(f"{name} of a MAP", name, hint)
    raise WrongUseError


def _part(data_type: DataType, name: str) -> str:
    return _type(kinds.kind_of(data_type), name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


HASHES: dict[str, Translate] = {
    "hash": _hashed("hash", MURMUR3, kinds.INT),
    "xxhash64": _hashed("xxhash64", XXHASH64, kinds.BIGINT),
}
"""By name in small letters."""
