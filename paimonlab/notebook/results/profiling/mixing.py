"""Hashes whose every bit depends on every bit of their input."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_STEP = np.uint64(0x9E3779B97F4A7C15)


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Mix 64-bit values, different ones to different ones (SplitMix64)."""
    with np.errstate(over="ignore"):
        bits = values + _STEP
        bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
        bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))
