"""Thousands of files and their masks as Spark's objects, in a handful of calls to the JVM.

A call costs a tenth of a millisecond, a file of its own would take eight. So the parts go over
as JSON, and are put together there by a composition of method handles: no code of ours runs in
the JVM, only Spark's own constructors.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge

_DIRECTORY = "org.apache.spark.sql.execution.datasources.PartitionDirectory"
_ROW = "org.apache.spark.sql.catalyst.InternalRow"
_VALUES = "org.apache.spark.sql.catalyst.expressions.GenericInternalRow"
_FILE_STATUS = "org.apache.hadoop.fs.FileStatus"
_BLOCK_BYTES = 128 << 20


@dataclass(frozen=True, slots=True)
class ListedFile:
    """What Spark has to know of a file."""

    uri: str
    size_bytes: int
    modified_millis: int

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of Hadoop's ``FileStatus``."""
        return {
            "path": self.uri,
            "length": self.size_bytes,
            "blocksize": _BLOCK_BYTES,
            "block_replication": 1,
            "modification_time": self.modified_millis,
        }


def plain_directory(bridge: Bridge, files: Sequence[ListedFile], *, has_mask_column: bool) -> Any:
    """Make the ``PartitionDirectory`` of files without masks."""
    values = bridge.array("java.lang.Object", [None] if has_mask_column else [])
    row = bridge.java_class(_VALUES)(values)
    described = json.dumps([file.fields for file in files])
    statuses = bridge.from_json(f"[L{_FILE_STATUS};", described)
    return bridge.java_class(_DIRECTORY).apply(row, statuses)


def masked_directories(bridge: Bridge, files: Sequence[ListedFile], masks: Sequence[bytes]) -> Any:
    """Make a ``java.util.List`` with a ``PartitionDirectory`` of each file and its mask."""
    described = json.dumps([[file.fields] for file in files])
    statuses = bridge.from_json(f"[[L{_FILE_STATUS};", described)
    encoded = json.dumps([base64.b64encode(mask).decode() for mask in masks])
    bits = bridge.from_json("[[B", encoded)
    make = _directory_of(bridge, bits, statuses)
    numbers = bridge.jvm.java.util.stream.IntStream.range(0, len(files))
    return numbers.mapToObj(make).toList()


def _directory_of(bridge: Bridge, masks: Any, statuses: Any) -> Any:
    """Compose ``i -> PartitionDirectory(GenericInternalRow([masks[i]]), statuses[i])``."""
    invoke = bridge.jvm.java.lang.invoke
    handles, method_type = invoke.MethodHandles, invoke.MethodType
    number = bridge.jvm.java.lang.Integer.TYPE
    object_class = _class(bridge, "java.lang.Object")
    objects = _class(bridge, "[Ljava.lang.Object;")
    row_class, directory = _class(bridge, _ROW), _class(bridge, _DIRECTORY)
    nothing = bridge.jvm.java.lang.Void.TYPE
    look_up = handles.publicLookup()

    row = look_up.findConstructor(
        _class(bridge, _VALUES), method_type.methodType(nothing, objects)
    ).asCollector(objects, 1)
    mask_at = handles.arrayElementGetter(masks.getClass()).bindTo(masks)
    mask_at = mask_at.asType(method_type.methodType(object_class, number))
    row_at = handles.filterReturnValue(mask_at, row)
    row_at = row_at.asType(method_type.methodType(row_class, number))
    files_at = handles.arrayElementGetter(statuses.getClass()).bindTo(statuses)

    parameters = bridge.array("java.lang.Class", [row_class, statuses.getClass().componentType()])
    make = look_up.findStatic(directory, "apply", method_type.methodType(directory, parameters))
    readers = bridge.array("java.lang.invoke.MethodHandle", [row_at, files_at])
    make = handles.filterArguments(make, 0, readers)
    twice = bridge.gateway.new_array(bridge.jvm.int, 2)  # both take the same number
    make = handles.permuteArguments(make, method_type.methodType(directory, number), twice)
    function = _class(bridge, "java.util.function.IntFunction")
    return invoke.MethodHandleProxies.asInterfaceInstance(function, make)


def _class(bridge: Bridge, name: str) -> Any:
    # By Spark's loader: these are its classes.
    loader = bridge.session.getClass().getClassLoader()
    return bridge.jvm.java.lang.Class.forName(name, True, loader)  # noqa: FBT003
