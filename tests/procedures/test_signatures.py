"""What procedures take and give, as Java Paimon's classes say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paimonlab.errors import ProcedureNotFoundError
from paimonlab.procedures import PROCEDURES, Procedure, find
from paimonlab.procedures.declare import RESULT
from paimonlab.spec.types.text import format_type
from tests.support import cases

_CASES = {title: (given, expected) for title, given, expected in cases("procedures")}


def test_there_are_the_procedures_of_java_and_no_others() -> None:
    assert set(PROCEDURES) == set(_CASES)
    assert list(PROCEDURES) == sorted(PROCEDURES)
    assert all(procedure.name == name for name, procedure in PROCEDURES.items())


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_procedure_takes_and_gives_what_javas_does(name: str) -> None:
    procedure = PROCEDURES[name]
    given, expected = _CASES[name]

    assert _parameters(procedure) == given.split("\n")[:-1]
    assert " ".join(f"{one.name} {format_type(one.type)}" for one in procedure.result) == expected
    assert [one.id for one in procedure.result] == list(range(len(procedure.result)))


@pytest.mark.parametrize("name", PROCEDURES)
def test_everything_is_described(name: str) -> None:
    procedure = PROCEDURES[name]

    described = [procedure.description, *(one.description for one in procedure.parameters)]

    assert all(text.endswith(".") and text[0].strip() for text in described)


def test_names_are_found_in_upper_and_lower_case() -> None:
    assert find("Create_TAG") is PROCEDURES["create_tag"]


def test_an_unknown_name_is_refused_with_those_that_look_like_it() -> None:
    with pytest.raises(
        ProcedureNotFoundError, match=r"sys.create_tags\. Did you mean 'create_tag'"
    ):
        find("create_tags")


def _parameters(procedure: Procedure) -> list[str]:
    return [
        f"  {'required' if one.is_required else 'optional'} {one.name} {format_type(one.type)}"
        for one in procedure.parameters
    ]


def test_the_page_about_procedures_names_all_of_them_with_their_arguments() -> None:
    text = (Path(__file__).parents[2] / "docs" / "procedures.md").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 6 and cells[1].startswith("`"):
            arguments = re.sub(r" \([^)]*\)", "", cells[2]).split(", ")
            found[cells[1].strip("`")] = (arguments, re.findall(r"`(\w+)`", cells[3]))

    for name, procedure in PROCEDURES.items():
        arguments = [
            f"**{one.name}**" if one.is_required else one.name for one in procedure.parameters
        ]
        columns = [one.name for one in procedure.result]
        assert found.pop(name) == (arguments, [] if procedure.result == RESULT else columns), name
    assert not found
