from __future__ import annotations

import numpy as np
import pytest

from paimonlab.compact.ordering.space_curves import hilbert, zorder


def numbers(keys: np.ndarray) -> list[int]:
    return [int.from_bytes(key.tobytes(), "big") for key in keys]


@pytest.mark.parametrize(
    ("dimensions", "side", "bits"), [(2, 16, 4), (2, 16, 63), (3, 8, 10), (5, 4, 2)]
)
def test_neighbours_on_the_hilbert_curve_are_neighbours_in_space(
    dimensions: int, side: int, bits: int
) -> None:
    axes = np.meshgrid(*[np.arange(side)] * dimensions, indexing="ij")
    points = np.stack(axes, axis=-1).reshape(-1, dimensions)

    found = numbers(
        hilbert([points[:, axis].astype(np.uint64) for axis in range(dimensions)], bits)
    )

    assert sorted(found) == list(range(side**dimensions))
    steps = np.abs(np.diff(points[np.argsort(found)], axis=0)).sum(axis=1)
    assert set(steps.tolist()) == {1}


def test_coordinates_are_not_changed() -> None:
    point = [np.array([3], np.uint64), np.array([2**63 - 1], np.uint64)]

    hilbert(point, 63)

    assert [axis.tolist() for axis in point] == [[3], [2**63 - 1]]


def test_z_order_takes_bits_in_turn(rng: np.random.Generator) -> None:
    widths = [1, 3, 2]
    columns = [rng.integers(0, 256, (20, width)).astype(np.uint8) for width in widths]

    found = zorder(columns)

    for row in range(20):
        texts = ["".join(f"{byte:08b}" for byte in column[row]) for column in columns]
        wanted = "".join(text[bit] for bit in range(24) for text in texts if bit < len(text))
        assert "".join(f"{byte:08b}" for byte in found[row]) == wanted
