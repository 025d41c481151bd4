"""Folders of the partitions of a format table: which there are, and what values they stand for.

A folder is all there is of a partition: its name says the values.

Source: apache/paimon@1.4.2 ``org.apache.paimon.table.format.FormatTableScan``,
``org.apache.paimon.utils.PartitionPathUtils.searchPartSpecAndPaths``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import CorruptMetadataError, DataError, SchemaError
from paimonlab.spec.partitions.folders import partition_path, partition_texts, unescape
from paimonlab.spec.predicates.predicate import (
    AlwaysTrue,
    And,
    Or,
    Predicate,
    all_of,
    any_of,
    columns,
    evaluate,
    split_and,
)
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import TEXT_ROOTS, DataField, TypeRoot
from paimonlab.storage import FileIO, FileStatus
from paimonlab.table.format_tables.options import FormatOptions
from paimonlab.table.format_tables.value_texts import root_of, values_of


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of one partition."""

    path: str
    texts: tuple[str, ...]
    """The values as the path says them, in order of the partition keys, nothing escaped."""
    values: tuple[pa.Scalar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioning:
    """How the partitions of a table are folders."""

    table: str
    """Its name, for messages."""
    root: str
    keys: tuple[DataField, ...]
    options: FormatOptions

    @property
    def _null(self) -> str | None:
        """What a folder is called by a missing value alone."""
        return self.options.partitions.default_name if self.options.only_values else None

    def folder_of(self, texts: Sequence[str | None]) -> str:
        """Return the folder of a partition, or of several if there are texts of the first keys."""
        default = self.options.partitions.default_name
        if self.options.only_values and is_hidden(default) and None in texts:
            raise DataError(
                f"{self.table}: NULL in a partition column, whose folder would be {default}: "
                "Java Paimon does not find it; set partition.default-name to another name"
            )
        return self._named(texts)

    def canonical(self, folder: Folder, count: int) -> str:
        """Return the folder that rows of a partition's first ``count`` values are written to.

        Others may spell values otherwise: ``dt=2024-02-29`` for ``dt=19782``.
        """
        keys = self.keys[:count]
        rows = [arrow_array([value.as_py()], value.type) for value in folder.values[:count]]
        types = [key.type for key in keys]
        return self._named(partition_texts(rows, types, self.options.partitions)[0])

    @property
    def spells_freely(self) -> bool:
        """Whether two folders may stand for one partition."""
        return any(root_of(key.type) not in TEXT_ROOTS for key in self.keys)

    def _named(self, texts: Sequence[str | None]) -> str:
        names = [key.name for key in self.keys[: len(texts)]]
        path = partition_path(names, texts, self.options.partitions.default_name)
        if self.options.only_values:
            parts = path.rstrip("/").split("/")
            path = "/".join(part.partition("=")[2] for part in parts) + "/"
        return f"{self.root}/{path}".rstrip("/")

    def texts_of(self, rows: Sequence[pa.Array]) -> list[list[str | None]]:
        """Return what paths say of values, one list per row."""
        return partition_texts(rows, [key.type for key in self.keys], self.options.partitions)

    def value_of(self, key: DataField, text: str, path: str) -> pa.Scalar:
        """Return the value that a text in a path stands for.

        Raises
        ------
        CorruptMetadataError
            If it is not a value of the key's type.
        """
        arrow_type = to_arrow(key.type)
        if text == self.options.partitions.default_name:
            return pa.nulls(1, arrow_type)[0]
        if root_of(key.type) is TypeRoot.DATE and _is_number(text):  # days since 1970
            return arrow_array([int(text)], pa.int32()).cast(arrow_type)[0]
        if root_of(key.type) in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ):
            text = text.replace("T", " ", 1)
            text = f"{text}:00" if text.count(":") == 1 else text
        values, unreadable = values_of(
            arrow_array([text], pa.string()), key, column=f"{self.table}.{key.name}"
        )
        if unreadable is not None and unreadable[0].as_py():
            raise CorruptMetadataError(
                path, f"{text!r} is not a value of the partition column {key.name!r}"
            )
        return values[0]

    def found(self, file_io: FileIO, predicate: Predicate | None = None) -> Iterator[Folder]:
        """List the folders of partitions, without those that a condition rules out."""
        parts = () if predicate is None else split_and(predicate)
        yield from self._below(file_io, self.root, (), (), parts)

    def _below(
        self,
        file_io: FileIO,
        path: str,
        texts: tuple[str, ...],
        values: tuple[pa.Scalar, ...],
        parts: Sequence[Predicate],
    ) -> Iterator[Folder]:
        if len(texts) == len(self.keys):
            yield Folder(path, texts, values)
            return
        key = self.keys[len(texts)]
        named = self._folders(file_io.list(path), key)
        known = [*self.keys[: len(values)], key]
        for folder, text in sorted(named, key=lambda one: one[1]):
            value = self.value_of(key, text, folder)
            if may_match(parts, known, (*values, value)):
                yield from self._below(file_io, folder, (*texts, text), (*values, value), parts)

    def _folders(self, listed: Sequence[FileStatus], key: DataField) -> Iterator[tuple[str, str]]:
        for one in listed:
            path = one.path.rstrip("/")
            name = path.rpartition("/")[2]
            # With values alone that of NULL looks hidden, and Java does not find it.
            if not one.is_directory or (is_hidden(name) and unescape(name) != self._null):
                continue
            if self.options.only_values:
                yield path, unescape(name)
                continue
            said, equals, text = name.partition("=")
            if equals and unescape(said) == key.name and text:
                yield path, unescape(text)


def may_match(
    parts: Sequence[Predicate], keys: Sequence[DataField], values: Sequence[pa.Scalar]
) -> bool:
    """Whether rows with these values of partition columns may fulfil a condition.

    Parameters
    ----------
    parts
        The condition: all of them are true. Those of other columns say nothing.
    keys, values
        Columns and their values.
    """
    names = frozenset(key.name for key in keys)
    own = all_of(*(_as_far_as_known(part, names) for part in parts))
    if isinstance(own, AlwaysTrue):
        return True
    row = pa.RecordBatch.from_arrays(
        [arrow_array([value.as_py()], value.type) for value in values],
        names=[key.name for key in keys],
    )
    return bool(evaluate(own, row)[0].as_py())


def _as_far_as_known(predicate: Predicate, names: frozenset[str]) -> Predicate:
    """Return what is true wherever a condition may be, and looks at no other columns."""
    match predicate:
        case And(parts):
            return all_of(*(_as_far_as_known(part, names) for part in parts))
        case Or(parts):
            known = [_as_far_as_known(part, names) for part in parts]
            is_open = any(isinstance(part, AlwaysTrue) for part in known)
            return AlwaysTrue() if is_open else any_of(*known)
    return predicate if columns(predicate) <= names else AlwaysTrue()


def is_hidden(name: str) -> bool:
    """Whether a file or folder is none of the table's."""
    return name.startswith((".", "_"))


def files_below(file_io: FileIO, folder: str) -> Iterator[FileStatus]:
    """List the files of a partition: all that are not hidden, also in folders below it."""
    for one in sorted(file_io.list(folder), key=lambda status: status.path):
        name = one.path.rstrip("/").rpartition("/")[2]
        if one.is_directory:
            # Java looks into folders of any name, and takes what is not hidden there.
            if not is_hidden(name):
                yield from files_below(file_io, one.path.rstrip("/"))
        elif not is_hidden(name):
            yield one


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdecimal()


def texts_of_given(
    partitioning: Partitioning, partition: Mapping[str, pa.Scalar]
) -> list[str | None]:
    """Return what paths say of values of the first partition keys.

    Raises
    ------
    SchemaError
        If the keys are others than the first.
    """
    if not partition:
        return []
    keys = partitioning.keys[: len(partition)]
    if {key.name for key in keys} != set(partition):
        raise SchemaError(
            f"{partitioning.table}: folders of partitions are named by the first of the columns "
            f"{', '.join(key.name for key in partitioning.keys)}; {', '.join(partition)} are others"
        )
    rows = [arrow_array([partition[key.name].as_py()], to_arrow(key.type)) for key in keys]
    return partition_texts(rows, [key.type for key in keys], partitioning.options.partitions)[0]
