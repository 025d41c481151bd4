"""How the columns of a data file become the columns of a read.

Spark finds Parquet columns by name, in one schema for a whole scan; Paimon finds them by field
id, in the schema each file was written with. So files are put into groups of equal *shape*, and
there is one scan per group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paimonlab.spark.values.casts import Conversion, conversion
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.data_types import AtomicType, DataField, DataType, TypeRoot, atoms_in

_MICROSECONDS = 6


@dataclass(frozen=True, slots=True)
class ShapeColumn:
    """One column of the read, and where the files have it."""

    name: str
    """In the read."""
    type: DataType
    """In the read."""
    file_name: str
    """In the files."""
    file_type: DataType
    """In the files."""
    conversion: Conversion | None
    """None: the files do not have the column, and another one has its name: it is null."""

    @property
    def is_compared_alike(self) -> bool:
        """Whether a comparison says the same about the file's value and the read's value."""
        if self.conversion in {None, Conversion.TIME}:
            return False
        # An integer beyond 2^24 or 2^53 moves when it becomes a FLOAT or DOUBLE.
        return self.conversion is Conversion.NONE or not _rounds(self.file_type, self.type)


def _rounds(old: DataType, new: DataType) -> bool:
    floating = {TypeRoot.FLOAT, TypeRoot.DOUBLE}
    assert isinstance(old, AtomicType), "only atomic types are cast"
    assert isinstance(new, AtomicType), "only atomic types are cast"
    return new.root in floating and old.root not in floating


FileShape = tuple[ShapeColumn, ...]
"""The columns of a read, in their order."""


def file_shape(file_schema: TableSchema, read_schema: TableSchema) -> FileShape | None:
    """Describe how Spark reads files of one schema under another one.

    Parameters
    ----------
    file_schema
        The schema that the files were written with.
    read_schema
        The schema of the result.

    Returns
    -------
    FileShape or None
        None: Spark cannot read such files as Java does.
    """
    by_id = {field.id: field for field in file_schema.fields}
    # Spark compares names without case.
    taken = {field.name.lower() for field in file_schema.fields}
    columns = [_column(field, by_id.get(field.id), taken) for field in read_schema.fields]
    if any(column is None for column in columns):
        return None
    return tuple(column for column in columns if column is not None)


def _column(field: DataField, in_file: DataField | None, taken: set[str]) -> ShapeColumn | None:
    if in_file is None:
        # A column that a file does not have is null for Spark, too, unless a dropped column of
        # that name is still there.
        clash = field.name.lower() in taken
        how = None if clash else conversion(field.type, field.type)
        return ShapeColumn(field.name, field.type, field.name, field.type, how)
    casting = conversion(in_file.type, field.type)
    if casting is None:
        return None
    return ShapeColumn(field.name, field.type, in_file.name, in_file.type, casting)


def too_precise(fields: Sequence[DataField]) -> list[str]:
    """Return the names of columns that hold more digits of a second than Spark's timestamps."""
    return [field.name for field in fields if any(map(_is_too_precise, atoms_in(field.type)))]


def _is_too_precise(atom: AtomicType) -> bool:
    is_time = atom.root in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
    return is_time and (atom.precision or 0) > _MICROSECONDS


def has_time(field: DataField) -> bool:
    """Say whether a column is TIME, or holds some."""
    return any(atom.root is TypeRoot.TIME for atom in atoms_in(field.type))


def count_fields(fields: Sequence[DataField]) -> int:
    """Count columns as Spark does for its bound on generated code: leaves of nested types."""
    return sum(1 for field in fields for _ in atoms_in(field.type))
