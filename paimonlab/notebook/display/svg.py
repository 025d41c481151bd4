"""SVG as text, and the ``<img>`` that shows it.

Sanitisers remove inline SVG and leave an ``<img>`` with a data URI alone; scripts in it cannot
run. Attributes and texts are escaped here; numbers are written to one decimal, integers as they
are.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

from paimonlab.notebook.display.characters import cut, escaped, text_width
from paimonlab.notebook.display.colours import DARK, GROUND, INK
from paimonlab.spec.visible_text import visible


def element(name: str, *content: str, **attributes: str | float | None) -> str:
    """Write an element.

    Parameters
    ----------
    name
        Name of the element.
    *content
        Elements and escaped texts inside it.
    **attributes
        Its attributes in this order: ``_`` stands for ``-``, None leaves one out.

    Examples
    --------
    >>> element("path", d="M0 0H5", stroke="#000", stroke_width=1.25, fill=None)
    '<path d="M0 0H5" stroke="#000" stroke-width="1.2"/>'
    """
    written = "".join(
        f' {key.replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if not content:
        return f"<{name}{written}/>"
    return f"<{name}{written}>{''.join(content)}</{name}>"


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return escaped(value)
    return str(value) if isinstance(value, int) else f"{value:.1f}"


def rectangle(
    x: float, y: float, width: float, height: float, **attributes: str | float | None
) -> str:
    """Draw a rectangle from its upper left corner."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def circle(x: float, y: float, radius: float, **attributes: str | float | None) -> str:
    """Draw a circle around a point."""
    return element("circle", cx=x, cy=y, r=radius, **attributes)


def path(commands: str, **attributes: str | float | None) -> str:
    """Draw what the commands of a path say, as in ``M0 0H5``."""
    return element("path", d=commands, **attributes)


def polyline(points: Iterable[tuple[float, float]], **attributes: str | float | None) -> str:
    """Draw a line through points."""
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return element("polyline", points=corners, **attributes)


def text(x: float, y: float, content: str, **attributes: str | float | None) -> str:
    """Write a text whose baseline starts at a point."""
    return element("text", escaped(content), x=x, y=y, **attributes)


def shortened(content: str, columns: int) -> str:
    """Return a text of at most ``columns`` columns in which every character can be seen."""
    return cut(visible(content), columns)


def shortened_name(name: str, columns: int) -> str:
    """Return a name of at most ``columns`` columns, with its end, by which long names differ.

    Examples
    --------
    >>> shortened_name("measured_value_of_the_sensor_17", 16), shortened_name("price", 16)
    ('measur…sensor_17', 'price')
    """
    shown = visible(name)
    if text_width(shown) <= columns:
        return shown
    end = (columns - 1) * 3 // 5
    while text_width(shown[-end:]) > (columns - 1) * 3 // 5:
        end -= 1
    start = cut(shown, columns - text_width(shown[-end:])).rstrip("…")
    return f"{start}…{shown[-end:]}"


def hatch(name: str, size: int, *shapes: str) -> str:
    """Define a pattern of squares with shapes in them; ``url(#name)`` fills with it."""
    return element(
        "pattern", *shapes, id=name, width=size, height=size, patternUnits="userSpaceOnUse"
    )


def document(
    width: int,
    height: int,
    shapes: Iterable[str],
    *,
    definitions: str = "",
    corner: int | None = 6,
    font_size: int = 11,
    **attributes: str | float | None,
) -> str:
    """Draw shapes on a ground of their own, which is dark where the page says that it is.

    An ``<img>`` follows the ``color-scheme`` of its page, or stays light; both can be read.

    Parameters
    ----------
    width, height
        Size in pixels.
    shapes
        What is drawn, the hindmost first.
    definitions
        What shapes refer to by name.
    corner
        Radius of the ground's corners.
    font_size
        Size of texts that give none, in pixels.
    **attributes
        What all shapes have that do not say otherwise.
    """
    attributes = {"fill": INK, **attributes}
    ground = element("rect", width=width, height=height, rx=corner, fill=GROUND)
    drawn = "".join((definitions, ground, *shapes))
    return element(
        "svg",
        _dark_style(drawn),
        drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        font_family="sans-serif",
        font_size=font_size,
        **attributes,
    )


def _dark_style(drawn: str) -> str:
    """Say which colours are others where the page is dark, of those that are used."""
    rules = (
        f'[{name}="{colour}"]{{{name}:{dark}}}'
        for colour, dark in DARK.items()
        for name in ("fill", "stroke")
        if colour == INK or f'{name}="{colour}"' in drawn  # texts inherit the ink
    )
    return element("style", f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}")


def image(svg: str, alternative: str, width: int, height: int) -> str:
    """Return the ``<img>`` of a document; ``alternative`` is read to those who do not see it."""
    data = base64.b64encode(svg.encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escaped(alternative)}" '
        f'width="{width}" height="{height}" style="max-width:100%;height:auto">'
    )
