"""How unevenly something is spread."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt


class Skew(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How unevenly a measure is spread over buckets."""

    measure: str
    maximum: float
    median: float
    ratio: float | None
    """Maximum over median; None if the median is 0."""
    gini: float | None
    """0 if all are the same, towards 1 if one has everything; None for ages, which have no sum."""


def gini(values: npt.NDArray[np.float64]) -> float:
    """Return the Gini coefficient: half the mean difference of two values, over the mean.

    Parameters
    ----------
    values : (n,)
        None of them negative.

    Returns
    -------
    float
        From 0 (all are the same) to ``1 - 1 / n`` (one has everything); 0 if there are none.

    Examples
    --------
    >>> gini(np.array([5.0, 5.0])), gini(np.array([0.0, 0.0, 0.0, 8.0]))
    (0.0, 0.75)
    """
    count, total = len(values), float(values.sum())
    if not total:
        return 0.0
    ranks = np.arange(1, count + 1)
    return float(2 * (ranks * np.sort(values)).sum() / (count * total) - (count + 1) / count)


def skew(measure: str, values: npt.NDArray[np.float64], *, adds_up: bool) -> Skew | None:
    """Say how unevenly values, none of them negative, are spread; None if there are none."""
    if not len(values):
        return None
    maximum, median = float(values.max()), float(np.median(values))
    return Skew(
        measure=measure,
        maximum=maximum,
        median=median,
        ratio=maximum / median if median else None,
        gini=gini(values) if adds_up else None,
    )
