"""What a package index shows of the README leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.package_readme import for_index

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
ADDRESS = "https://code.example/paimonlab/blob/v1"


def _places(text: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def test_links_and_pictures_lead_to_files_of_the_project() -> None:
    places = _places(for_index(README, ADDRESS))

    assert len(places) == len(_places(README))
    for place in places:
        assert re.match(r"https?://|#", place), place
        if place.startswith(ADDRESS):
            name = re.sub(r"[?#].*", "", place.removeprefix(ADDRESS))
            assert ROOT.joinpath(name.lstrip("/")).exists(), place


def test_without_an_address_there_is_no_link_to_the_repository() -> None:
    text = for_index(README, None)

    assert [place for place in _places(text) if not re.match(r"https?://|#", place)] == []
    assert "![" not in text


def test_it_is_installed_from_the_index() -> None:
    assert "'.[" not in for_index(README, None)


@pytest.mark.parametrize("address", [None, ADDRESS])
def test_code_is_left_as_it_is(address: str | None) -> None:
    code = "```python\nrows = table[0](a.b)\nx = [a](b)\n```"

    assert for_index(f"[a](docs/a.md)\n\n{code}\n", address).endswith(f"\n\n{code}\n")
