"""Delta says the same rows as the rules by which the other tests of random statements judge.

What Delta answered for a seed is kept as digests. ``PAIMONLAB_DELTA_SEQUENCES`` asks Delta itself,
about as many sequences for each kind of table, with the statements that
``tests/spark/rows/test_random.py`` runs for the same ``PAIMONLAB_SEED``;
``python -m tests.random_changes.test_delta`` writes the digests, those of some kinds of tables if
it is given their names.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.interop.java_build import JavaMissingError
from tests.random_changes.cells import Cells
from tests.random_changes.delta import LIBRARY, ask_delta
from tests.random_changes.kinds import KINDS
from tests.random_changes.sequences import Sequenced, sequence

KEPT = Path(__file__).with_name("delta_answers.json")
SEED = 20261126
"""Of the answers that are kept."""
STATEMENTS = int(os.environ.get("PAIMONLAB_SPARK_STATEMENTS", "5"))
SEQUENCES = int(os.environ.get("PAIMONLAB_DELTA_SEQUENCES", "0"))


def sequences(seed: int, count: int) -> list[Sequenced]:
    """Make up sequences for all kinds of tables."""
    return [sequence(name, seed, number, STATEMENTS) for name in KINDS for number in range(count)]


def digest(of: Any) -> str:
    """Return some letters that another text does not have."""
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:12]


def digests(of: Sequenced, answers: Sequence[Sequence[Cells]]) -> list[str]:
    """Return digests of the statements, and of the rows after each of them."""
    return [digest([step.delta for step in of.steps]), *map(digest, answers)]


def expected(of: Sequenced) -> list[list[Cells]]:
    """Return the rows after each statement by the rules."""
    return [of.rows_after(number) for number in range(len(of.steps))]


def test_what_delta_answered_is_what_the_rules_say() -> None:
    kept = json.loads(KEPT.read_text())

    assert kept["library"] == LIBRARY
    made = sequences(SEED, 1)
    rules = {one.name: digests(one, expected(one)) for one in made}
    assert kept["answers"] == rules


@pytest.mark.skipif(not SEQUENCES, reason="PAIMONLAB_DELTA_SEQUENCES asks Delta")
def test_delta_answers_what_the_rules_say(seed: int, tmp_path: Path) -> None:
    made = sequences(seed, SEQUENCES)
    try:
        version, answers = ask_delta(made, tmp_path)
    except (JavaMissingError, subprocess.CalledProcessError) as missing:
        pytest.skip(f"Delta cannot be had: {missing}")
    print(f"Delta {LIBRARY['version']} on Spark {version}: {len(made)} sequences")  # noqa: T201
    wrong = [
        f"{one.seed!r}: {one.steps[number].delta}\nby Delta {left}\nby the rules {right}"
        for one, found in zip(made, answers, strict=True)
        for number, (left, right) in enumerate(zip(_listed(found), expected(one), strict=False))
        if left != right
    ]
    assert not wrong, "\n".join(wrong)
    assert [len(one) for one in answers] == [len(one.steps) for one in made]


def _listed(answers: list[Any]) -> list[Any]:
    return [one if isinstance(one, str) else [tuple(row) for row in one] for one in answers]


def main(*names: str) -> None:
    """Ask Delta for the answers that are kept: of some kinds of tables, or all."""
    kept = json.loads(KEPT.read_text())["answers"] if names else {}
    made = [one for one in sequences(SEED, 1) if not names or one.name in names]
    with tempfile.TemporaryDirectory() as folder:
        _, answers = ask_delta(made, Path(folder))
    found = {one.name: digests(one, given) for one, given in zip(made, answers, strict=True)}
    both = kept | found
    answered = {name: both[name] for name in KINDS if name in both}
    KEPT.write_text(json.dumps({"library": LIBRARY, "answers": answered}, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
