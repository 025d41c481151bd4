from __future__ import annotations

import copy
import os
import pickle
import re

from paimonlab.storage.forks import UniqueNames


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
