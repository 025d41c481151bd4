"""The picture of a bucket's levels: SVG in an ``<img>``, a lane for each sorted run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from paimonlab.analysis.levels.lsm import Lsm, LsmBucket
from paimonlab.analysis.levels.lsm_files import LsmFile
from paimonlab.notebook.display import svg
from paimonlab.notebook.display.colours import BLUE, GREEN, INK, ON_BRIGHT, ORANGE, RULE, SKY
from paimonlab.notebook.display.numbers import bytes_text, many
from paimonlab.spec.visible_text import visible

_WIDTH = 720
_LEFT = 66
_RIGHT = 12
_TOP = 30
_LANE = 20
_LANES = 14
_BAR = 14
_KEY = 20

# Each lane also has its level in letters.
_LEVEL_0, _MIDDLE, _TOP_LEVEL, _PLAIN = ORANGE, SKY, BLUE, GREEN
_HATCH = svg.element(
    "defs", svg.hatch("h", 5, svg.path("M0 5L5 0", stroke=ON_BRIGHT, stroke_width=1.2))
)


def picture(lsm: Lsm, bucket: LsmBucket) -> str:
    """Return an ``<img>`` of a bucket as it is now."""
    lanes = lanes_of(lsm, bucket)
    height = _height(lanes) + _KEY * _has_gone(lanes)
    drawn = svg.document(_WIDTH, height, _shapes(lsm, bucket, lanes), definitions=_HATCH)
    return svg.image(drawn, alternative(lsm, bucket), _WIDTH, height)


def _has_gone(lanes: Sequence[tuple[int, list[LsmFile]]]) -> bool:
    return any(map(_gone, (file for _, files in _chosen(lanes) for file in files)))


def _gone(file: LsmFile) -> float:
    """Return the share of a file's rows that are deletes, or hidden by deletion vectors."""
    return min(((file.deletes or 0) + (file.hidden or 0)) / max(file.rows, 1), 1)


def lanes_of(lsm: Lsm, bucket: LsmBucket) -> list[tuple[int, list[LsmFile]]]:
    """Return the runs of a bucket as it is now, newest first: level and files."""
    last = len(bucket.steps) - 1
    files = [file for file in bucket.files if file.died > last]
    lanes: list[tuple[int, list[LsmFile]]] = []
    for level, files_of_level in groupby(files, key=lambda file: file.level):
        if level == 0 and lsm.has_levels:
            lanes += [(0, [file]) for file in files_of_level]
        else:
            lanes.append((level, list(files_of_level)))
    return lanes


def alternative(lsm: Lsm, bucket: LsmBucket) -> str:
    """Say in words what the picture shows."""
    place = f"{bucket.partition} bucket {bucket.bucket}".strip()
    parts = []
    for level, lanes_of_level in groupby(lanes_of(lsm, bucket), key=lambda lane: lane[0]):
        files = [file for _, lane in lanes_of_level for file in lane]
        number = sum(file.count for file in files)
        size = (
            ""
            if files[0].bytes is None
            else f", {bytes_text(sum(file.bytes or 0 for file in files))}"
        )
        text = f"{many(number, 'file')}, {many(sum(file.rows for file in files), 'row')}{size}"
        parts.append(f"level {level}: {text}" if lsm.has_levels else text)
    runs = (
        f"{many(bucket.run_count, 'sorted run')}, trigger {lsm.compaction_trigger}, stop "
        f"{lsm.stop_trigger}: "
        if lsm.has_levels
        else ""
    )
    return visible(f"{lsm.table} {place}: {runs}" + "; ".join(parts))


def _height(lanes: Sequence[object]) -> int:
    return _TOP + _LANE * min(len(lanes), _LANES) + (18 if len(lanes) > _LANES else 6)


def _shapes(
    lsm: Lsm, bucket: LsmBucket, lanes: Sequence[tuple[int, list[LsmFile]]]
) -> Iterator[str]:
    place = f"{bucket.partition} bucket {bucket.bucket}".strip()
    title = svg.shortened_name(place, 60)  # the table's name stands above
    runs = (
        f": {many(bucket.run_count, 'sorted run')}, trigger {lsm.compaction_trigger}, "
        f"stop {lsm.stop_trigger}"
        if lsm.has_levels
        else ""
    )
    yield svg.text(10, 18, title + runs, fill=INK, font_weight="bold")
    shown = _chosen(lanes)
    for level, numbers in groupby(range(len(shown)), key=lambda number: shown[number][0]):
        first, *others = numbers
        yield from _name(f"level {level}" if lsm.has_levels else "files", first, 1 + len(others))
    for number, (_, files) in enumerate(shown):
        y = _TOP + _LANE * number
        yield svg.path(f"M{_LEFT} {y + _BAR + 2}H{_WIDTH - _RIGHT}", stroke=RULE, stroke_width=1)
        for x, width, file in _placed(lsm, bucket, files):
            yield _bar(lsm, file, x, y, width)
    if len(lanes) > _LANES:
        hidden = f"… {len(lanes) - _LANES} more runs of level 0"
        yield svg.text(_LEFT, _TOP + _LANE * _LANES + 12, hidden, fill=INK)
    if _has_gone(lanes):
        y = _height(lanes)
        ground = _LEVEL_0 if lsm.has_levels else _PLAIN
        yield svg.rectangle(_LEFT, y, _BAR, _BAR, fill=ground)
        yield svg.rectangle(_LEFT, y, _BAR, _BAR, fill="url(#h)")
        gone = "deletes, and rows hidden by deletion vectors"
        yield svg.text(_LEFT + _LANE, y + 11, gone, fill=INK)


def _name(name: str, first: int, lanes: int) -> Iterator[str]:
    """Write the name of a level beside the middle of its lanes."""
    y = _TOP + _LANE * first
    yield svg.text(10, y + _LANE * lanes / 2 + 2, name, fill=INK)
    if lanes > 1:
        sides = f"M{_LEFT - 6} {y + 1}V{y + _LANE * lanes - 5}"
        yield svg.path(sides, stroke=RULE, stroke_width=1)


def _chosen(
    lanes: Sequence[tuple[int, list[LsmFile]]],
) -> Sequence[tuple[int, list[LsmFile]]]:
    """Leave out runs of level 0, the oldest, if there are too many lanes."""
    surplus = len(lanes) - _LANES
    if surplus <= 0:
        return lanes
    newest = [lane for lane in lanes if lane[0] == 0]
    shown = newest[: max(len(newest) - surplus, 0)]
    return [*shown, *(lane for lane in lanes if lane[0] > 0)][:_LANES]


def _placed(
    lsm: Lsm, bucket: LsmBucket, files: Sequence[LsmFile]
) -> Iterator[tuple[float, float, LsmFile]]:
    room = _WIDTH - _LEFT - _RIGHT
    if lsm.axis == "keys":
        unit = room / max(bucket.place_count, 1)
        for file in files:
            yield _LEFT + unit * file.low, unit * (file.high - file.low + 1), file
        return
    weights = [file.rows if file.bytes is None else file.bytes for file in files]
    total, x = sum(weights) or 1, float(_LEFT)
    for file, weight in zip(files, weights, strict=True):
        width = room * weight / total
        yield x, width, file
        x += width


def _bar(lsm: Lsm, file: LsmFile, x: float, y: float, width: float) -> str:
    shown = max(width - 1, 1.5)
    colour = _PLAIN
    if lsm.has_levels:
        top = lsm.level_count - 1
        colour = _LEVEL_0 if file.level == 0 else _TOP_LEVEL if file.level >= top else _MIDDLE
    bar = svg.rectangle(x, y, shown, _BAR, rx=2, fill=colour)
    if hidden_share := _gone(file):
        part = max(shown * hidden_share, 1.0)
        bar += svg.rectangle(x + shown - part, y, part, _BAR, fill="url(#h)")
    return bar
