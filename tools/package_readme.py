"""The README as a package index shows it: hatchling calls this when it builds.

An index has neither the pictures nor the pages that the README links to by their place in the
repository. ``PAIMONLAB_PROJECT_URL``, as ``https://code.example/paimonlab/blob/v0.2.0``, says where
they are: then links and pictures lead there, and the package has that address. Without it pictures
are left out, and of links their words remain.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "PAIMONLAB_PROJECT_URL"
_INSTALLED = (("'.[", "'paimonlab["), ("in a clone of this repository; ", ""))
"""What is installed from a clone, as it is installed from an index."""
_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^\]]*)\]\((?P<place>[^)\s]+)\)")


class PackageReadme(MetadataHookInterface):
    """Give the package its description and its addresses."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill the fields that ``pyproject.toml`` calls dynamic."""
        address = os.environ.get(VARIABLE, "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": for_index(text, address or None),
        }
        metadata["urls"] = {"Repository": address} if address else {}


def for_index(text: str, address: str | None) -> str:
    """Return a README that needs no repository around it.

    Parameters
    ----------
    text
        Markdown; code blocks are left as they are.
    address
        Of the repository's files, without a slash at its end; None if it is unknown.

    Examples
    --------
    >>> for_index("![a](docs/a.png) [guide](docs/guide.md)", "https://code.example/blob/main")
    '![a](https://code.example/blob/main/docs/a.png?raw=true) [guide](https://code.example/blob/main/docs/guide.md)'
    >>> for_index("[guide](docs/guide.md), [Paimon](https://paimon.apache.org)", None)
    'guide, [Paimon](https://paimon.apache.org)'
    """
    for here, there in _INSTALLED:
        text = text.replace(here, there)
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    for number in range(0, len(parts), 2):
        parts[number] = _LINK.sub(lambda found: _led(found, address), parts[number])
    return "".join(parts)


def _led(found: re.Match[str], address: str | None) -> str:
    place = found["place"]
    if re.match(r"[a-z]+:|#", place):
        return found[0]
    if address is None:
        return "" if found["picture"] else found["words"]
    raw = "?raw=true" if found["picture"] else ""
    return f"{found['picture']}[{found['words']}]({address}/{place}{raw})"
