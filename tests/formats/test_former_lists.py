"""Manifest lists read after others that begin alike."""

from __future__ import annotations

from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.formats.manifests.former_lists import FormerLists
from paimonlab.formats.manifests.manifest import read_manifest_list, write_manifest_list
from paimonlab.spec.manifests.manifest import ManifestFileMeta

METAS = st.builds(
    ManifestFileMeta,
    file_name=st.sampled_from(["m-1", "m-2", "m-3", "m-10"]),
    file_size_bytes=st.integers(0, 300),
    num_added_files=st.integers(0, 2),
    num_deleted_files=st.integers(0, 2),
    min_bucket=st.none() | st.integers(0, 1),
)


@given(st.lists(st.lists(METAS, max_size=6), max_size=8))
def test_a_list_is_the_same_whatever_was_read_before(lists: list[list[ManifestFileMeta]]) -> None:
    former = FormerLists()
    for number, metas in enumerate(lists):
        data = write_manifest_list(metas, compression=("zstd", "null")[number % 2])

        assert read_manifest_list(data, path="list", former=former) == metas


TWENTY = [
    ManifestFileMeta(
        file_name=f"m-{number}", file_size_bytes=1, num_added_files=1, num_deleted_files=0
    )
    for number in range(20)
]


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Has an entry for each record that was decoded."""
    found = list[int]()
    decode = fastavro.schemaless_reader

    def counted(*arguments: Any) -> Any:
        found.append(1)
        return decode(*arguments)

    monkeypatch.setattr(fastavro, "schemaless_reader", counted)
    return found


def test_records_that_the_list_before_had_are_not_decoded_again(decoded: list[int]) -> None:
    former = FormerLists()
    for count in range(1, 21):
        read_manifest_list(write_manifest_list(TWENTY[:count]), path="list", former=former)

    assert len(decoded) == 20


def test_records_of_lists_of_changes_are_not_decoded_again_in_bases(decoded: list[int]) -> None:
    """As expiry reads them: what commits changed, then the bases after them."""
    former = FormerLists()
    for meta in TWENTY:
        read_manifest_list(write_manifest_list([meta]), path="changes", former=former)
    for count in range(1, 21):
        base = write_manifest_list(TWENTY[:count])
        assert read_manifest_list(base, path="base", former=former) == TWENTY[:count]

    assert len(decoded) == 20
