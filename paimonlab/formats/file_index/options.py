"""Which indexes the files of a table have.

Source: apache/paimon@1.3.1 ``org.apache.paimon.fileindex.FileIndexOptions``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.formats.file_index.values import INDEX_TYPES, form_of
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.types.data_types import TEXT_ROOTS, AtomicType, DataField, DataType, MapType
from paimonlab.spec.types.text import format_type

_KEYS = {
    "bloom-filter": ("items", "fpp"),
    "bitmap": ("version", "index-block-size"),
    "bsi": (),
    "range-bitmap": ("chunk-size",),
}
_OPTION_PARTS = 3
_COLUMNS = ".columns"


class _Keys(OptionSlice):
    in_manifest_threshold: int = option_field(
        "file-index.in-manifest-threshold", "memory", "500 bytes"
    )
    of_indexes: dict[str, str] = option_field("file-index.*", "string", {})


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """An index that every file has."""

    kind: str
    """Type of the index, as options call it."""
    column: str
    map_key: str | None
    """The key of a MAP whose values are indexed; None: the column itself is."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """By the last part of their options."""

    @property
    def name(self) -> str:
        """What the index file calls the column."""
        return self.column if self.map_key is None else f"{self.column}[{self.map_key}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIndexOptions:
    """Which indexes are written, and where to."""

    indexes: tuple[IndexSpec, ...] = ()
    in_manifest_threshold: int = 500
    """``file-index.in-manifest-threshold``: bytes of indexes that still go into the manifest."""

    @classmethod
    def of(cls, fields: Sequence[DataField], options: Options) -> Self:
        """Read the options of a table.

        Raises
        ------
        SchemaError
            If they name a column that does not exist, or that is missing in ``…columns``.
        UnsupportedError
            If a column's type cannot have such an index, or a type of index is not known.
        """
        keys = options.slice(_Keys)
        specs: dict[tuple[str, str], IndexSpec] = {}
        settings: dict[tuple[str, str], dict[str, str]] = {}
        for rest, text in keys.of_indexes.items():
            if rest.endswith(_COLUMNS):
                kind = rest.removesuffix(_COLUMNS)
                for spec in _specs(kind, text, fields):
                    specs[kind, spec.name] = spec
        for rest, text in keys.of_indexes.items():
            parts = rest.split(".")
            if not rest.endswith(_COLUMNS) and len(parts) == _OPTION_PARTS:
                kind, name, key = parts
                _check_setting(kind, name, key, specs)
                settings.setdefault((kind, name), {})[key] = text
        return cls(
            indexes=tuple(_with_settings(spec, settings) for spec in specs.values()),
            in_manifest_threshold=keys.in_manifest_threshold,
        )


def _with_settings(
    spec: IndexSpec, settings: Mapping[tuple[str, str], Mapping[str, str]]
) -> IndexSpec:
    """Give an index its settings: of a MAP's key those of the MAP, then its own."""
    nothing: Mapping[str, str] = {}
    own = {
        **settings.get((spec.kind, spec.column), nothing),
        **settings.get((spec.kind, spec.name), nothing),
    }
    return IndexSpec(spec.kind, spec.column, spec.map_key, own)


def _specs(kind: str, text: str, fields: Sequence[DataField]) -> list[IndexSpec]:
    if kind not in INDEX_TYPES:
        raise UnsupportedError(
            f"file-index.{kind}.columns = {text!r}", f"indexes are {', '.join(INDEX_TYPES)}"
        )
    known = {field.name: field for field in fields}
    specs = []
    for part in text.split(","):
        name = part.strip()
        column, map_key = name, None
        if "[" in name and name.endswith("]"):
            column, _, rest = name.partition("[")
            map_key = rest[:-1]
        if column not in known:
            raise SchemaError(f"file-index.{kind}.columns names {name!r}, which is not a column")
        indexed = _indexed_type(
            known[column].type, map_key, f"file-index.{kind}.columns = {text!r}"
        )
        if form_of(indexed, kind) is None:
            raise UnsupportedError(
                f"file-index.{kind}.columns = {text!r}",
                f"{name} is {format_type(indexed)}, which no {kind} index can be made of",
            )
        specs.append(IndexSpec(kind, column, map_key))
    return specs


def _indexed_type(data_type: DataType, map_key: str | None, option: str) -> DataType:
    if map_key is None:
        return data_type
    is_map = isinstance(data_type, MapType) and isinstance(data_type.key, AtomicType)
    if not is_map or data_type.key.root not in TEXT_ROOTS:  # type: ignore[union-attr]
        raise SchemaError(f"{option}: only values of a MAP whose keys are texts are indexed")
    value: DataType = data_type.value  # type: ignore[union-attr]
    return value


def _check_setting(
    kind: str, name: str, key: str, found: Mapping[tuple[str, str], IndexSpec]
) -> None:
    option = f"file-index.{kind}.{name}.{key}"
    is_known = any(
        spec.kind == kind and name in (spec.name, spec.column) for spec in found.values()
    )
    if not is_known:
        raise SchemaError(f"{option}: {name!r} is not in file-index.{kind}.columns")
    if key not in _KEYS[kind]:
        raise UnsupportedError(option, f"settings of {kind} are {', '.join(_KEYS[kind]) or 'none'}")
