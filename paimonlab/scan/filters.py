"""Filters of entries one after the other, and what each of them left."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.spec.manifests.manifest import FileKind


class Filter(Struct, frozen=True):
    """A step that leaves out entries of files."""

    name: str
    """What `Step.name` says of what is left."""
    keeps: Callable[[pa.Table], npt.NDArray[np.bool_]]
    """Marks the entries that are kept, of n entries: (n,) bool."""
    is_hidden: bool = False
    """As in `Step`."""


class Step(Struct, frozen=True):
    """A step of pruning, and what it left."""

    name: str
    count: int
    """Manifests or files."""
    is_hidden: bool = False
    """Whether `Plan.funnel` leaves it out: a step that the read asks for, not one of pruning."""


def filtered(entries: pa.Table, filters: Iterable[Filter]) -> tuple[pa.Table, list[Step]]:
    """Filter entries step by step.

    Parameters
    ----------
    entries
        Of `ENTRY_SCHEMA`.
    filters
        In the order in which they are counted; each looks at all entries, so that these are
        copied only once.

    Returns
    -------
    tuple
        The entries that are left, and how many files each step left: a deletion and the addition
        of its file are none.
    """
    # One for an addition, minus one for a deletion.
    weights = np.where(numpy_values(entries["kind"]) == int(FileKind.ADD), 1, -1)
    is_left = np.ones(entries.num_rows, np.bool_)
    steps = []
    for step in filters:
        is_left &= step.keeps(entries)
        steps.append(Step(step.name, int(weights[is_left].sum()), step.is_hidden))
    if not is_left.all():
        entries = entries.filter(arrow_array(is_left))
    return entries, steps
