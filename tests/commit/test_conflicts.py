from __future__ import annotations

import pickle

import pytest

from paimonlab.commit.conflicts import Base, check_delta
from paimonlab.errors import FilesConflictError
from tests.small_tables import INT, drawn_entries
from tests.support import cases


@pytest.mark.parametrize(("title", "given", "expected"), cases("conflicts"))
def test_case_file(title: str, given: str, expected: str) -> None:
    alive, _, delta = given.partition(">")
    is_complete = "since" not in alive
    base = Base("db.t", 7, drawn_entries(alive.replace("since", "")), is_complete=is_complete)

    try:
        check_delta(drawn_entries(delta), base, key_types=[INT])
    except FilesConflictError as error:
        found = " ".join(error.missing) or "buckets"
    else:
        found = "fits"

    assert found == expected, title


def test_the_error_names_table_snapshot_and_files_and_survives_pickling() -> None:
    with pytest.raises(FilesConflictError) as caught:
        check_delta(drawn_entries("-gone"), Base("db.t", 7, drawn_entries("+a")))

    message = str(pickle.loads(pickle.dumps(caught.value)))
    assert "db.t" in message
    assert "snapshot 7" in message
    assert "gone" in message


def test_another_number_of_buckets_says_what_to_do() -> None:
    with pytest.raises(FilesConflictError, match="for 4 buckets meet files of 2") as caught:
        check_delta(drawn_entries("+b:p/4"), Base("db.t", 7, drawn_entries("+a:p/2")))

    assert "overwritten" in str(caught.value)
