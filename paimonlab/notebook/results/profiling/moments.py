"""Mean and standard deviation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, mean and squared distances from it, of finite numbers."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """Sum of the squared distances from the mean."""

    @staticmethod
    def of(values: npt.NDArray[np.float64]) -> Moments:
        """Compute them of some numbers."""
        if not len(values):
            return Moments()
        with np.errstate(over="ignore", invalid="ignore"):
            apart = values - values[0]  # so that equal values have no deviation at all
            mean = apart.mean()
            squares = float(np.square(apart - mean).sum())
            return Moments(len(values), float(values[0] + mean), squares)

    def __add__(self, other: Moments) -> Moments:
        count = self.count + other.count
        if not self.count or not other.count:
            return self if self.count else other
        apart = other.mean - self.mean
        share = other.count / count
        squares = self.squares + other.squares + apart * apart * self.count * share
        return Moments(count, self.mean + apart * share, squares)

    @property
    def standard_deviation(self) -> float | None:
        """That of a sample (divided by ``n - 1``); None for fewer than two, or beyond floats."""
        if self.count < 2:
            return None
        deviation = math.sqrt(max(self.squares, 0.0) / (self.count - 1))
        return deviation if math.isfinite(deviation) else None

    @property
    def known_mean(self) -> float | None:
        """The mean; None if there is none, or it is beyond floats."""
        return self.mean if self.count and math.isfinite(self.mean) else None
