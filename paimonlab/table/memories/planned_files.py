"""The plan of a snapshot as point reads need it: kept while the snapshot is the newest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.conditions import Conditions
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.predicates.predicate import ColumnStats, may_match_stats
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.storage.recent import Recent


@dataclass(frozen=True, slots=True)
class PlannedFiles:
    """The files of some partitions of a snapshot, ready to be asked for keys."""

    plan: ReadPlan
    splits: list[DataSplit]
    split: npt.NDArray[np.int64]
    """(f,) which split each file is in."""
    position: npt.NDArray[np.int64]
    """(f,) where in its split."""
    bucket: npt.NDArray[np.int64]
    total_buckets: npt.NDArray[np.int64]
    stats: dict[str, ColumnStats]
    """Of the first key column, by name: it alone is sure to lie between the first and the
    last key of a file."""

    @classmethod
    def of(cls, splits: list[DataSplit], plan: ReadPlan) -> PlannedFiles:
        """Put the files of splits side by side."""
        files = [(number, one) for number, split in enumerate(splits) for one in split.files]
        schema = plan.schema
        types = [schema.field(name).type for name in schema.trimmed_primary_keys]
        stats = {}
        if files and types:
            low, high = (
                decode(arrow_array(rows, pa.large_binary()), types, is_lenient=True)[0]
                for rows in (
                    [file.min_key for _, file in files],
                    [file.max_key for _, file in files],
                )
            )
            zeros = arrow_array(np.zeros(len(files), np.int64))
            rows = arrow_array([file.row_count for _, file in files], pa.int64())
            stats = {schema.trimmed_primary_keys[0]: ColumnStats(low, high, zeros, rows)}
        split = np.array([number for number, _ in files], np.int64)
        lengths = [len(one.files) for one in splits]
        return cls(
            plan,
            splits,
            split,
            np.concatenate([np.empty(0, np.int64), *map(np.arange, lengths)]),
            np.array([one.bucket for one in splits], np.int64)[split],
            np.array([one.total_buckets for one in splits], np.int64)[split],
            stats,
        )

    def matching(
        self, conditions: Conditions, schema: TableSchema
    ) -> Iterator[tuple[DataSplit, list[int]]]:
        """Find the files that may hold keys: split by split, their positions in it."""
        mask = may_match_stats(conditions.key, self.stats, count=len(self.split))
        for total in distinct_integers(self.total_buckets).tolist():
            possible = conditions.buckets(schema, total)
            if possible is not None:
                mask &= np.isin(self.bucket, possible) | (self.total_buckets != total)
        for number in distinct_integers(self.split[mask]).tolist():
            yield self.splits[number], self.position[mask & (self.split == number)].tolist()


PlanCache: TypeAlias = Recent[tuple[Any, ...], PlannedFiles]
"""By the manifest lists of the snapshot, its schema and the partitions asked for."""
