"""Which options that begin a read a table may keep, by its ``scan.mode``.

Source: apache/paimon@1.4.2 ``org.apache.paimon.schema.SchemaValidation#validateStartupMode``,
``org.apache.paimon.CoreOptions#startupMode``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paimonlab.errors import SchemaError
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field

_TIMES = ("scan.timestamp-millis", "scan.timestamp")
_SNAPSHOT = "scan.snapshot-id"
_TAG = "scan.tag-name"
_WATERMARK = "scan.watermark"
_FILES = "scan.file-creation-time-millis"
_CHANGES = ("incremental-between", "incremental-between-timestamp", "incremental-to-auto-tag")


class _Rule(NamedTuple):
    one_of: tuple[str, ...]
    """Just one of these options must be set; (): none need be."""
    without: tuple[str, ...]
    """None of these may be."""


_RULES: Mapping[str, _Rule] = {
    "from-timestamp": _Rule(_TIMES, (_SNAPSHOT, _FILES, _TAG, *_CHANGES)),
    "from-snapshot": _Rule((_SNAPSHOT, _TAG, _WATERMARK), (*_TIMES, _FILES, *_CHANGES)),
    "from-snapshot-full": _Rule((_SNAPSHOT,), (*_TIMES, _FILES, _TAG, *_CHANGES)),
    "from-file-creation-time": _Rule((_FILES,), (_SNAPSHOT, _TIMES[0], _TAG, *_CHANGES)),
    "incremental": _Rule(_CHANGES, (_SNAPSHOT, *_TIMES, _FILES, _TAG)),
}
_OF_OTHER_MODES = _Rule((), (*_TIMES, _FILES, _SNAPSHOT, _TAG, *_CHANGES))
_MEANT: Sequence[tuple[str, tuple[str, ...]]] = (
    ("from-timestamp", _TIMES),
    ("from-snapshot", (_SNAPSHOT, _TAG, _WATERMARK, "scan.version")),
    ("from-file-creation-time", (_FILES,)),
    ("from-creation-timestamp", ("scan.creation-time-millis",)),
    ("incremental", _CHANGES[:2]),
)
"""What the mode ``default`` is if one of some options is set; the first that fits."""


class ScanModeOptions(OptionSlice):
    """The table option that says how reads begin."""

    mode: str = option_field("scan.mode", "enum", "default")
    """``scan.mode``"""


def check_kept_start(options: Mapping[str, str]) -> None:
    """Check that what begins the reads of a table does not contradict its ``scan.mode``.

    Options of one read are not checked here, for these may travel by ``scan.version``, too.

    Raises
    ------
    SchemaError
        If it does; Java opens no such table.
    """
    given = Options(options)
    mode = given.slice(ScanModeOptions).mode
    by_default = ""
    if mode == "default":
        mode, cause = _meant(given)
        by_default = f", which {cause!r} makes of 'default'" if cause else ", the default"
    rule = _RULES.get(mode, _OF_OTHER_MODES)
    chosen = [key for key in rule.one_of if key in given]
    named = f"'scan.mode' = {mode!r}{by_default}"
    if rule.one_of and len(chosen) != 1:
        wanted = " or ".join(map(repr, rule.one_of))
        found = ", ".join(f"{key!r} = {given[key]!r}" for key in chosen) or "none"
        raise SchemaError(
            f"option {named}, takes just one of {wanted}, not {found}. What one read begins with "
            "can be given to the read"
        )
    for key in rule.without:
        if key in given:
            raise SchemaError(
                f"option {key!r} = {given[key]!r} cannot be combined with {named}: remove one of "
                "them. What one read begins with can be given to the read"
            )


def _meant(given: Options) -> tuple[str, str | None]:
    """Return the mode that ``default`` stands for, and the option that makes it so."""
    for mode, keys in _MEANT:
        for key in keys:
            if key in given:
                return mode, key
    return "latest-full", None
