"""Lets a process stand still before chosen calls of the store, while others do things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.interleaving.memory_store import Files
from tests.interleaving.world import OPERATIONS, Act, Names, Process, World, check

Stalls: TypeAlias = "Mapping[int, Sequence[Step]]"
_CHANGES = frozenset({"write", "publish", "replace", "rename", "delete", "delete_directory"})
"""Calls that change what others see; nobody looks at manifests that nothing names."""


@dataclass(frozen=True)
class Step:
    """An operation, and what happens before which of its calls, counted from 1."""

    operation: str
    stalls: Stalls = field(default_factory=dict)

    def __str__(self) -> str:
        """Write it so that it can be read back: ``append{21: expire but one, append}``."""
        stalls = "".join(
            f"{{{call}: {', '.join(map(str, steps))}}}" for call, steps in self.stalls.items()
        )
        return f"{self.operation}{stalls}"


@dataclass(frozen=True)
class _Done:
    """What others did to the files, and were told."""

    changed: Files
    gone: frozenset[str]
    acts: tuple[Act, ...]


class Schedule:
    """Runs interleavings, each from the same table."""

    def __init__(self, start: Files, names: Names) -> None:
        self._start = start
        self._names = names
        self._done: dict[object, _Done] = {}
        self.tried = 0

    def calls(self, operation: str) -> int:
        """Return how many calls of the store an operation makes when nobody is beside it."""
        return self._run(World(dict(self._start)), Step(operation), "alone")

    def first_change(self, operation: str) -> int:
        """Return the number of the first call with which an operation changes what others see."""
        methods: list[str] = []
        world = World(dict(self._start))
        self._names.of(("looked at", operation))
        Process(world, lambda method, _: methods.append(method)).perform(OPERATIONS[operation])
        return next(n for n, method in enumerate(methods, start=1) if method in _CHANGES)

    def check(self, step: Step) -> bool:
        """Run a step with all that happens meanwhile; False if it ended before its last stall.

        Raises
        ------
        AssertionError
            If something that has to be true is not; it says how to run that step again.
        """
        world = World(dict(self._start))
        try:
            calls = self._run(world, step, step.operation)
            check(world)
        except BaseException as error:
            told = "\n".join(f"  {act}" for act in world.acts)
            raise AssertionError(f"{step}\n{error!r}\n{told}") from error
        if calls < max(step.stalls, default=0):
            return False
        self.tried += 1
        return True

    def _run(self, world: World, step: Step, label: object) -> int:
        calls = changes = 0
        is_first = True

        def before(method: str, _path: str) -> None:
            nonlocal calls, changes, is_first
            calls += 1
            steps = step.stalls.get(calls)
            if steps is not None:
                # Until the first stall all is as it was the time before, so others do the same.
                since = (label, changes) if changes else ("made",)
                known = (*since, *map(str, steps)) if is_first else None
                number = self._names.of(known or (self.tried, calls, str(step), "inside"))
                self._others(world, steps, known)
                self._names.back_to(number)
                self._names.of((self.tried, calls, str(step), "after"))
                is_first = False
            changes += method in _CHANGES

        number = self._names.of((label, "begins"))
        Process(world, before).perform(OPERATIONS[step.operation])
        self._names.back_to(number)
        return calls

    def _others(self, world: World, steps: Sequence[Step], known: object) -> None:
        done = self._done.get(known) if known is not None else None
        if done is None:
            files, told = dict(world.files), len(world.acts)
            for number, step in enumerate(steps):
                self._run(world, step, (known or (self.tried, id(step)), number))
            if known is None:
                return
            changed = {p: data for p, data in world.files.items() if files.get(p) is not data}
            gone = frozenset(files.keys() - world.files.keys())
            self._done[known] = _Done(changed, gone, tuple(map(copy, world.acts[told:])))
            return
        world.files.update(done.changed)
        for path in done.gone:
            del world.files[path]
        world.acts += map(copy, done.acts)
        world.clock = max(world.clock, *(act.end for act in done.acts))
