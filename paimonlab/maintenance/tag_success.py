"""Files that say to others that a tag was created (``tag.create-success-file``).

Source: apache/paimon@1.3.1 ``org.apache.paimon.tag.SuccessFileTagCallback``.
"""

from __future__ import annotations

import msgspec

from paimonlab import clock
from paimonlab.metadata.layout import TableLayout
from paimonlab.spec.decoding import ready
from paimonlab.storage import FileIO, join

_FOLDER = "tag-success-file"


class _SuccessFile(msgspec.Struct, rename="camel"):
    creation_time: int
    modification_time: int


def success_file(name: str, layout: TableLayout) -> str:
    """Return the path of the file of a tag."""
    return join(layout.tag_folder, _FOLDER, f"{name}_SUCCESS")


def write_success_file(name: str, layout: TableLayout, file_io: FileIO) -> None:
    """Write the file of a tag; if there is one, it keeps its time of creation."""
    path = success_file(name, layout)
    now = clock.now_millis()
    times = _SuccessFile(now, now)
    if file_io.exists(path):
        before = msgspec.json.decode(file_io.read(path), type=ready(_SuccessFile))
        times = _SuccessFile(before.creation_time, now)
    file_io.replace(path, msgspec.json.format(msgspec.json.encode(times), indent=2))
