from __future__ import annotations

import numpy as np
import pyarrow as pa

from paimonlab.scan.filters import Filter, Step, filtered
from tests.small_tables import draw_entries, drawn_entries


def named(*names: str) -> Filter:
    """Keep the entries of some files."""
    return Filter(
        "in " + "".join(names), lambda entries: np.isin(entries["file_name"].to_pylist(), names)
    )


def test_each_step_counts_what_it_and_those_before_it_left() -> None:
    entries = drawn_entries("+a +b +c +d")

    left, steps = filtered(entries, [named("a", "b", "c"), named("b", "c", "d")])

    assert draw_entries(left) == "+b +c"
    assert steps == [Step("in abc", 3), Step("in bcd", 2)]


def test_a_deletion_and_the_addition_of_its_file_count_as_no_file() -> None:
    entries = drawn_entries("+a +b -a +c")

    left, steps = filtered(entries, [named("a", "b")])

    assert draw_entries(left) == "+a +b -a"
    assert steps == [Step("in ab", 1)]


def test_where_all_are_left_nothing_is_copied() -> None:
    entries = drawn_entries("+a +b")

    left, steps = filtered(entries, [Filter("all", lambda rows: np.ones(rows.num_rows, np.bool_))])

    assert left is entries
    assert steps == [Step("all", 2)]


def test_no_entries_are_no_files() -> None:
    empty: pa.Table = drawn_entries("+a").slice(0, 0)

    assert filtered(empty, [named("a")])[1] == [Step("in a", 0)]
