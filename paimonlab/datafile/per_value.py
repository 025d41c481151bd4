"""Functions of single values over a column, called once per distinct value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from paimonlab.arrow_values import arrow_array


def per_value(array: pa.Array, function: Callable[[Any], Any], arrow_type: pa.DataType) -> pa.Array:
    """Apply ``function`` to every distinct value that is not null; null stays null."""
    encoded = array.dictionary_encode()
    results = [function(value) for value in encoded.dictionary.to_pylist()]
    return arrow_array(results, arrow_type).take(encoded.indices)
