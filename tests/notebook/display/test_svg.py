"""SVG as text: escaped, one decimal, and written by one module."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import paimonlab.notebook
from paimonlab.notebook.display import svg
from paimonlab.notebook.display.axes import Scale

EVIL = "<b>\"'&\x07\u202e"
PACKAGE = Path(paimonlab.notebook.__file__).parent


def test_texts_and_attributes_stay_texts() -> None:
    shapes = [svg.text(1, 2, EVIL, fill=EVIL), svg.rectangle(0, 0, 1, 1, fill=EVIL)]

    drawn = ET.fromstring(svg.document(10, 10, shapes))

    seen = svg.shortened(EVIL, 80)
    assert [element.get("fill") for element in drawn][1:] == ["#fff", seen, seen]
    assert drawn[2].text == seen
    assert seen.isprintable()


def test_an_image_has_the_document_and_its_description() -> None:
    image = svg.image("<svg/>", EVIL, 30, 20)

    found = re.fullmatch(
        r'<img src="data:image/svg\+xml;base64,(.+)" alt="([^"<>]+)" '
        r'width="30" height="20" style="max-width:100%;height:auto">',
        image,
    )
    assert found is not None, image
    assert base64.b64decode(found[1]) == b"<svg/>"


def test_integers_are_written_as_they_are_and_other_numbers_to_one_decimal() -> None:
    assert svg.circle(3, 0.25, np.float64(2)) == '<circle cx="3" cy="0.2" r="2.0"/>'


@pytest.mark.parametrize(
    ("value", "pixel"),
    [(0, 80), (5, 55), (10, 30), (-1, 80), (11, 30), (float("inf"), 30)],
)
def test_a_scale_keeps_values_between_its_ends(value: float, pixel: float) -> None:
    assert Scale(0, 10, 80, 30).at(value) == pixel


def test_a_scale_of_huge_values_does_not_overflow() -> None:
    huge = float(np.finfo(np.float64).max)

    assert Scale(-huge, huge, 0, 100).at(0.0) == 50


def test_only_one_module_writes_svg() -> None:
    written = re.compile(r"<(svg|rect|circle|polyline|path|pattern)[ >]|<text [xf]|b64encode")

    writers = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if written.search(path.read_text("utf-8"))
    }

    assert writers == {"display/svg.py"}
