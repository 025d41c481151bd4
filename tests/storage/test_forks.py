from __future__ import annotations

import contextlib
import copy
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paimonlab.errors import ForkedProcessError
from paimonlab.storage.forks import Home, UniqueNames


def test_names_are_an_id_and_a_number_that_rises() -> None:
    names = UniqueNames()

    first, second = names.next(), names.next()

    identity = re.fullmatch(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-0", first)
    assert identity is not None
    assert second == f"{identity[1]}-1"


def test_copies_give_other_names() -> None:
    names = UniqueNames()
    given = [names.next()]

    others = [copy.copy(names), copy.deepcopy(names), pickle.loads(pickle.dumps(names))]
    given += [other.next() for other in (*others, names)]

    assert len(set(given)) == 5


def test_children_and_grandchildren_give_other_names() -> None:
    names = UniqueNames()
    given = [names.next()]

    read, write = os.pipe()
    for _ in range(2):
        child = os.fork()
        if not child:
            grandchild = os.fork()
            os.write(write, f"{names.next()}\n".encode())
            if grandchild:
                os.waitpid(grandchild, 0)
            os._exit(0)
        os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as pipe:
        given += pipe.read().split()

    assert len(given) == 5
    assert len(set(given)) == 5


def _in_child(act: Callable[[], object]) -> bool:
    """Whether an action returns in a child of this process."""
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            act()
            os._exit(0)
        os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def test_what_belongs_to_a_process_is_refused_in_its_children() -> None:
    home = Home()
    home.check("a thing", "make one here")

    def refused() -> None:
        assert not home.is_here
        Home().check("another thing", "make one here")
        with pytest.raises(ForkedProcessError, match=r"a thing .*: make one here, or .*'spawn'"):
            home.check("a thing", "make one here")

    assert home.is_here
    assert _in_child(refused)


_ENDING = """
import os, pathlib, sys
from paimonlab.storage.forks import delete_at_exit, scratch_folder
kept = pathlib.Path(sys.argv[1], "kept")
kept.mkdir()
delete_at_exit(str(kept))
with scratch_folder("scratch-", sys.argv[1]) as folder:
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        assert kept.is_dir() and os.path.isdir(folder)
if not child:
    sys.exit(0)  # with all that is registered for the end of a process
assert not os.path.exists(folder)
"""


def test_a_child_that_ends_leaves_the_folders_of_its_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _ENDING, str(tmp_path)]

    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())
