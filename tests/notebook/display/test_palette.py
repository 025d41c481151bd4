"""The colours of the views, as readers see them who do not tell red and green apart."""

from __future__ import annotations

import itertools
import re

import numpy as np
import numpy.typing as npt
import pytest

from paimonlab.notebook.display import colours
from paimonlab.notebook.kernel import browser_modules
from paimonlab.notebook.views.timeline import picture as timeline_picture

# Machado, Oliveira, Fernandes: A physiologically-based model for simulation of color vision
# deficiency (2009), severity 1.0, for linear RGB.
SEEN = {
    "everybody": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
CLOSE = 20.0
"""Of the distance in CIELAB; less, and a small mark may be taken for another."""

COLOURS = dict(
    re.findall(
        r"(\w+): \"(#[0-9A-F]{6})\"", browser_modules.text("display/browser/parts/colours.js")
    )
)
KINDS = {
    kind: (letter, COLOURS[colour], shape)
    for kind, letter, colour, shape in re.findall(
        r"(\w+): \{ letter: \"(\w)\", colour: COLOURS\.(\w+), shape: \"(\w+)\" \}",
        browser_modules.text("display/browser/parts/marks.js"),
    )
}
AMOUNTS = {
    theme: re.findall(r"#[0-9A-F]{6}", shades)
    for theme, shades in re.findall(
        r"(light|dark): \[(.*)\]", browser_modules.text("display/browser/parts/amounts.js")
    )
}
INKS = {"light": "#000000", "dark": "#FFFFFF"}


def linear(colour: str) -> npt.NDArray[np.float64]:
    value = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    ratio = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    root = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def distance(one: str, two: str, seen: str) -> float:
    here, there = (lab(SEEN[seen] @ linear(colour)) for colour in (one, two))
    return float(np.linalg.norm(here - there))


def luminance(colour: str) -> float:
    return float(np.array([0.2126, 0.7152, 0.0722]) @ linear(colour))


def contrast(one: str, two: str) -> float:
    low, high = sorted([luminance(one), luminance(two)])
    return (high + 0.05) / (low + 0.05)


def close(colours: dict[str, str]) -> set[tuple[str, str]]:
    """Return the pairs that somebody may take for each other by their colours."""
    return {
        (one, two)
        for one, two in itertools.combinations(colours, 2)
        if min(distance(colours[one], colours[two], seen) for seen in SEEN) <= CLOSE
    }


def test_of_the_kinds_of_commits_only_two_have_close_colours() -> None:
    assert close({kind: colour for kind, (_, colour, _) in KINDS.items()}) == {
        ("COMPACT", "ANALYZE")  # A square C and a triangle X.
    }


@pytest.mark.parametrize("seen", SEEN)
def test_colours_side_by_side_are_told_apart(seen: str) -> None:
    pairs = [("orange", "blue"), ("orange", "green"), ("blue", "green"), ("sky", "blue")]

    for one, two in [*pairs, ("red", "blue"), ("red", "green")]:
        assert distance(COLOURS[one], COLOURS[two], seen) > CLOSE, (one, two)


def test_every_kind_has_a_letter_and_a_shape_of_its_own() -> None:
    assert set(KINDS) == {"APPEND", "COMPACT", "OVERWRITE", "ANALYZE"}
    for part in range(3):
        assert len({kind[part] for kind in KINDS.values()}) == len(KINDS)


@pytest.mark.parametrize("theme", INKS)
def test_shades_of_amounts_are_told_apart_and_can_be_written_on(theme: str) -> None:
    lightness = [float(lab(linear(shade))[0]) for shade in AMOUNTS[theme]]
    steps = [abs(one - next_one) for one, next_one in itertools.pairwise(lightness)]

    assert len(steps) == 5
    assert lightness == sorted(lightness, reverse=theme == "light")
    assert min(steps[1:]) > 7
    assert all(contrast(shade, INKS[theme]) >= 4.5 for shade in AMOUNTS[theme])
    assert f"--on-amount: {'#000' if theme == 'light' else '#fff'};" in browser_modules.text(
        "display/browser/parts/headed.js"
    )


@pytest.mark.parametrize("name", COLOURS)
def test_what_is_written_on_a_colour_can_be_read(name: str) -> None:
    ink = "#FFFFFF" if name == "blue" else "#000000"

    assert contrast(COLOURS[name], ink) >= 4.5
    assert 'colour === COLOURS.blue ? "#fff" : "#000"' in browser_modules.text(
        "display/browser/parts/colours.js"
    )


def test_pictures_without_javascript_have_the_same_colours() -> None:
    assert {name: getattr(colours, name.upper()) for name in COLOURS} == COLOURS
    assert {kind: colour for kind, (_, colour, _) in KINDS.items()} == timeline_picture._COLOURS


def test_pictures_without_javascript_can_be_read_on_both_grounds() -> None:
    assert [AMOUNTS["light"][1:], AMOUNTS["dark"][1:]] == [
        list(colours.AMOUNTS),
        [colours.DARK[shade] for shade in colours.AMOUNTS],
    ]
    for shown in ({}, colours.DARK):
        seen = {
            name: long(shown.get(value, value))
            for name, value in vars(colours).items()
            if isinstance(value, str) and value.startswith("#")
        }
        amounts = [shown.get(shade, shade) for shade in colours.AMOUNTS[:2]]
        for ground in (seen["GROUND"], *amounts):
            assert contrast(seen["INK"], ground) >= 4.5
        for text in ("INK", "LINK", "NEW"):
            assert contrast(seen[text], seen["GROUND"]) >= 4.5, text
        for mark in ("BLUE", "GREEN", "RED", "GREY", "AXIS", "AMOUNT_EDGE"):
            assert contrast(seen[mark], seen["GROUND"]) >= 2.8, mark


def long(colour: str) -> str:
    return colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])
