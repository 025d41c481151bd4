"""The files in which Hadoop's settings are."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

FILES = ("core-site.xml", "hdfs-site.xml")


def hadoop_settings(folder: str) -> dict[str, str] | None:
    """Read the settings in a folder; None: neither of the `FILES` is there.

    Parameters
    ----------
    folder
        A path, or a ``file:`` URL of one.

    Raises
    ------
    ValueError
        If a file cannot be read.
    """
    found = dict[str, str]()
    read = 0
    for name in FILES:
        path = Path(folder.removeprefix("file://").removeprefix("file:"), name)
        try:
            root = ET.fromstring(path.read_bytes())  # noqa: S314 - the user's own file
        except FileNotFoundError:
            continue
        except (OSError, ET.ParseError) as error:
            raise ValueError(f"{path} cannot be read: {error}") from None
        read += 1
        named = ((one.findtext("name"), one.findtext("value")) for one in root.iter("property"))
        found |= {key.strip(): value.strip() for key, value in named if key and value}
    return found if read else None
