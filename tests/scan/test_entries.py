from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from paimonlab.errors import CorruptMetadataError
from paimonlab.scan.entries import alive_after, codes, deletions_of, fold, live
from tests.small_tables import draw_entries, drawn_entries
from tests.support import cases


@pytest.mark.parametrize(("title", "given", "expected"), cases("fold"))
def test_case_file(title: str, given: str, expected: str) -> None:
    manifests = [drawn_entries(line) for line in given.splitlines() if line.strip()]

    assert draw_entries(fold(manifests)) == expected, title


@pytest.mark.parametrize(
    ("drawing", "what"), [("+a +b +a", "a is added twice"), ("+b -a -a", "a is deleted twice")]
)
def test_the_same_change_twice_in_a_row_is_corruption(drawing: str, what: str) -> None:
    with pytest.raises(CorruptMetadataError, match=what) as caught:
        fold([drawn_entries(drawing)], referrer="snapshot-3")

    assert caught.value.path == "snapshot-3"


def test_a_snapshot_that_deletes_what_was_never_added_is_corrupt() -> None:
    with pytest.raises(CorruptMetadataError, match="never added"):
        live([drawn_entries("+b -a")])


def test_agrees_with_a_dict_of_live_files(rng: np.random.Generator) -> None:
    """Replaying random changes one by one must leave the files that folding leaves."""
    for _ in range(30):
        alive: dict[str, None] = {}
        words = []
        for _ in range(rng.integers(0, 60)):
            name = f"f{rng.integers(0, 8)}" + ("@3" if rng.integers(0, 2) else "")
            kind = "-" if name in alive else "+"
            words.append(kind + name)
            if kind == "+":
                alive[name] = None
            else:
                del alive[name]
        cuts = sorted(rng.integers(0, len(words) + 1, 2).tolist())
        parts = [words[: cuts[0]], words[cuts[0] : cuts[1]], words[cuts[1] :]]

        left = live([drawn_entries(" ".join(part)) for part in parts])

        assert draw_entries(left).split() == [f"+{name}" for name in alive]


def test_pieces_of_entries_have_the_live_files_of_all(rng: np.random.Generator) -> None:
    """What stays alive of each piece, in turn, is what folding all of them leaves."""
    for _ in range(30):
        alive: set[str] = set()
        words = []
        for _ in range(rng.integers(0, 60)):
            name = f"f{rng.integers(0, 8)}" + ("@3" if rng.integers(0, 2) else "")
            words.append(("-" if name in alive else "+") + name)
            alive ^= {name}
        entries = drawn_entries(" ".join(words))
        cuts = [0, *sorted(rng.integers(0, len(words) + 1, 3).tolist()), len(words)]

        left = [
            alive_after(
                entries.slice(start, end - start),
                [deletions_of(entries.slice(end, 5)), deletions_of(entries.slice(end + 5))],
            )
            for start, end in pairwise(cuts)
        ]

        whole = draw_entries(live([entries])).split()
        assert [word for piece in left for word in draw_entries(piece).split()] == whole


def test_codes_number_values_as_they_come_and_know_null() -> None:
    column = drawn_entries("+b +a +b")["file_name"]

    assert codes(column).tolist() == [0, 1, 0]
    assert codes(drawn_entries("+a +b")["external_path"]).tolist() == [0, 0]
