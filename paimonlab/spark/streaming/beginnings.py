"""Where a stream began, kept in its checkpoint.

Spark writes down where each batch ends. Where the first one starts it asks again after a crash,
when the table may have gone on: the same batch would then have other rows.

Source: apache/spark@v4.3.0 ``MicroBatchExecution``; the folder of a source in a checkpoint is the
source's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paimonlab.scan.following import Position

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge

_FILE = "paimon-beginning"
_REPLACES = True


def kept_beginning(bridge: Bridge, folder: str, find: Callable[[], Position]) -> Position:
    """Return where a stream began; the first time, find it and write it down.

    Parameters
    ----------
    bridge
        The session.
    folder
        The folder of the source in the stream's checkpoint.
    find
        Finds where a stream begins now.

    Raises
    ------
    ValueError
        If the file in the checkpoint is damaged.
    """
    files, path = _file(bridge, folder, _FILE)
    if files.exists(path):
        source = files.open(path)
        try:
            return Position.from_bytes(str(source.readUTF()))
        finally:
            source.close()
    position = find()
    _, temporary = _file(bridge, folder, f".{_FILE}.tmp")
    target = files.create(temporary, _REPLACES)
    try:
        target.writeUTF(position.to_bytes().decode())
    finally:
        target.close()
    if not files.rename(temporary, path):
        raise OSError(f"{path.toString()}: cannot be written")
    return position


def _file(bridge: Bridge, folder: str, name: str) -> tuple[Any, Any]:
    """Return a file of a checkpoint, after the (Java) file system that it is in."""
    path = bridge.java_class("org.apache.hadoop.fs.Path")(folder, name)
    return path.getFileSystem(bridge.session.sessionState().newHadoopConf()), path
