"""Merging rows of level 0 with older rows of their keys, wherever these are.

A key of level 0 may have an older row on a level that is not compacted. It is looked up: to be
merged, to be reported as what was there before, to be marked as deleted in a deletion vector, or
(first-row) to let the new row go.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.LookupMergeTreeCompactRewriter``,
``…LookupChangelogMergeFunctionWrapper``, ``…FirstRowMergeFunctionWrapper``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.changelog import ChangelogWriter, changelog
from paimonlab.compact.keyed_rows import KeyedRows, reduced
from paimonlab.compact.older_rows import OlderFiles, OlderRows
from paimonlab.formats.deletion_vectors import DeletionVector
from paimonlab.merge.deduplicate import is_add
from paimonlab.merge.groups import Members, Positions
from paimonlab.merge.levels import without_deeper_levels
from paimonlab.merge.order import Keys, as_numpy, sort_keys
from paimonlab.read.read_plan import ReadPlan
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND, key_column


@dataclass(slots=True)
class Marks:
    """Rows of files that a compaction made out of date."""

    positions: dict[str, list[Positions]] = field(default_factory=dict)
    """By the name of the file."""

    def add(self, found: OlderRows) -> None:
        """Mark rows that were found."""
        for name, positions in found.places:
            self.positions.setdefault(name, []).append(positions)

    @property
    def vectors(self) -> dict[str, DeletionVector]:
        """What was marked, as deletion vectors by the name of the file."""
        return {
            name: DeletionVector.of(np.concatenate(parts)) for name, parts in self.positions.items()
        }


@dataclass(frozen=True, slots=True)
class LookupMerger:
    """Merges rows with those that are looked up: a `PieceMerger`."""

    plan: ReadPlan
    older: OlderFiles | None
    """Where to look; None if older rows do not matter or there are none."""
    writer: ChangelogWriter
    marks: Marks | None = None
    """Where older rows are marked; None: they are not."""
    compared: tuple[DataField, ...] | None = None
    """See `changelog`."""

    def merged(self, piece: KeyedRows) -> pa.Table:
        """Merge the rows of each key, and report what changed of keys of level 0."""
        groups = piece.groups
        ordered = piece.levels[groups.positions]
        is_new = groups.counts(ordered > 0) == 0
        rows, levels, members = self._with_older(piece, groups, is_new)
        members = without_deeper_levels(members, levels)
        after = reduced(KeyedRows(rows, members, levels), self.plan, only_rows_stay=False)
        above = members.place_of_last(levels[members.positions] > 0)
        before_at = np.where(above < 0, -1, members.positions[np.maximum(above, 0)])
        self.writer.write(
            changelog(
                rows,
                before_at,
                after,
                concerned=groups.counts(ordered == 0) > 0,
                compared=self.compared,
            )
        )
        return after

    def _with_older(
        self, piece: KeyedRows, groups: Members, is_new: npt.NDArray[np.bool_]
    ) -> tuple[pa.Table, npt.NDArray[np.int8], Members]:
        """Add the rows that are looked up, each at its place among those of its key."""
        if self.older is None or not is_new.any():
            return piece.rows, piece.levels, groups
        wanted = np.flatnonzero(is_new)
        older_rows = self.older.find(_keys_of(piece, self.plan, groups, wanted))
        if self.marks is not None:
            self.marks.add(older_rows)
        if older_rows.rows is None or not len(older_rows.keys):
            return piece.rows, piece.levels, groups
        older = older_rows.rows.select(piece.rows.column_names).cast(piece.rows.schema)
        rows = pa.concat_tables([piece.rows, older])
        count = piece.rows.num_rows
        order = np.concatenate([groups.positions, np.arange(count, rows.num_rows)])
        keys = np.concatenate([groups.groups, wanted[older_rows.keys]])
        again = Members.of(keys, [sequence[order] for sequence in _sequences(rows, self.plan)])
        members = Members(order[again.positions], again.lengths)
        return rows, np.concatenate([piece.levels, older_rows.levels]), members

    def close(self) -> Sequence[DataFileMeta]:
        """Finish the changelog."""
        return self.writer.close()

    def abort(self) -> None:
        """Delete the changelog."""
        self.writer.abort()


@dataclass(frozen=True, slots=True)
class FirstRowMerger:
    """Keeps the first row of each key unless there is an older one: a `PieceMerger`."""

    plan: ReadPlan
    older: OlderFiles | None
    writer: ChangelogWriter

    def merged(self, piece: KeyedRows) -> pa.Table:
        """Merge the rows of each key; new keys are reported."""
        groups = piece.groups
        is_new = groups.counts(piece.levels[groups.positions] > 0) == 0
        after = reduced(piece, self.plan)
        stays = ~is_new
        if self.older is not None and is_new.any():
            wanted = np.flatnonzero(is_new)
            older_rows = self.older.find(_keys_of(piece, self.plan, groups, wanted))
            is_new[wanted[older_rows.keys]] = False
        is_new &= is_add(as_numpy(after[VALUE_KIND]))
        self.writer.write(after.filter(arrow_array(is_new)))
        return after.filter(arrow_array(stays | is_new))

    def close(self) -> Sequence[DataFileMeta]:
        """Finish the changelog."""
        return self.writer.close()

    def abort(self) -> None:
        """Delete the changelog."""
        self.writer.abort()


@dataclass(frozen=True, slots=True)
class FullChangelogMerger:
    """Reports what a full compaction changed on the highest level: a `PieceMerger`.

    Source: apache/paimon@1.3.1
    ``org.apache.paimon.mergetree.compact.FullChangelogMergeFunctionWrapper``.
    """

    plan: ReadPlan
    max_level: int
    writer: ChangelogWriter
    compared: tuple[DataField, ...] | None = None
    """See `changelog`."""

    def merged(self, piece: KeyedRows) -> pa.Table:
        """Merge the rows of each key, and report what is not as it was."""
        groups = piece.groups
        after = reduced(piece, self.plan)
        top = groups.place_of_last(piece.levels[groups.positions] == self.max_level)
        before_at = np.where(top < 0, -1, groups.positions[np.maximum(top, 0)])
        self.writer.write(
            changelog(
                piece.rows,
                before_at,
                after,
                concerned=(groups.lengths > 1) | (top < 0),
                compared=self.compared,
            )
        )
        return after

    def close(self) -> Sequence[DataFileMeta]:
        """Finish the changelog."""
        return self.writer.close()

    def abort(self) -> None:
        """Delete the changelog."""
        self.writer.abort()


def _keys_of(piece: KeyedRows, plan: ReadPlan, groups: Members, wanted: Positions) -> pa.Table:
    names = [key_column(name) for name in plan.schema.trimmed_primary_keys]
    return piece.rows.select(names).take(arrow_array(groups.last()[wanted]))


def _sequences(rows: pa.Table, plan: ReadPlan) -> list[Keys]:
    """Return what decides which of two rows of a key is newer, most significant first."""
    options = plan.options
    columns: list[Keys] = [as_numpy(rows[SEQUENCE_NUMBER])]
    if options.sequence_fields:
        fields = [rows[name] for name in options.sequence_fields]
        columns.insert(0, sort_keys(fields, is_descending=options.sequence_descending))
    return columns
