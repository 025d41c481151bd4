"""What a running job does when it is asked to read tables anew, or more tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paimonlab.errors import IngestError, NotFoundError, UnsupportedError, close_matches
from paimonlab.ingest.changes import (
    Boundary,
    JsonValue,
    Phase,
    RereadableSource,
    SampledSource,
    Source,
    SourceSchema,
    WideningSource,
)
from paimonlab.ingest.controls import Controls
from paimonlab.ingest.job_tables import JobTables
from paimonlab.ingest.steering import Ask, check_pattern
from paimonlab.ingest.targets import Target


@dataclass(kw_only=True)
class Answering:
    """Does what is asked of a job between two epochs."""

    job: str
    source: Source
    tables: JobTables
    controls: Controls
    position: Callable[[], JsonValue]
    """Where the job is; all before it is committed."""

    def answer(self, ask: Ask) -> Boundary | None:
        """Do what is asked.

        Returns
        -------
        Boundary or None
            From where the job is to go on, which an epoch must say first; None: from where it is.

        Raises
        ------
        PaimonError, ValueError
            If it cannot be done; nothing was changed.
        OSError
            If it may be done later.
        """
        match ask.verb:
            case "pause":
                self.controls.pause.set()
            case "resume":
                if self.controls.pause.is_set():
                    self.controls.resumed.set()
            case "stop":
                self.controls.stop.set()
            case "resnapshot":
                return self._resnapshot(ask.what)
            case "add":
                return self._add(ask.what)
        return None

    def _resnapshot(self, what: str) -> Boundary | None:
        position = self.position()
        refused = self._refused(what)
        if refused is None:
            target = self._target(what)
        elif position is None:
            self.tables.open_refused(refused, self._found_refused(refused))
            return None
        else:
            self._rereadable(f"resnapshot of {refused}")
            target = self.tables.open_refused(refused, self._found_refused(refused))
        if position is None:
            return None  # all rows are still to be read
        source = self._rereadable(f"resnapshot of {target.name}")
        found = self._found(target.sources)
        for name in target.sources:
            if name not in found:
                raise IngestError(
                    self.job,
                    f"{name} is not in the source any more: its rows in {target.name} would be "
                    "lost",
                )
        before = source.before_rows(position, target.sources)
        self.tables.begin_again(target, found)
        return Boundary(position=before, phase=Phase.STREAM)

    def _found_refused(self, name: str) -> dict[str, SourceSchema]:
        """Return the tables of the source; all that would become a refused one are among them."""
        sources = self.tables.refused[name].sources
        found = self._found(sources)
        for source in sources:
            if source not in found:
                raise IngestError(
                    self.job, f"{name} cannot be read anew: {source} is not in what was looked at"
                )
        return found

    def _found(self, sources: Sequence[str]) -> dict[str, SourceSchema]:
        """Return the tables of the source, and those of some that it does not list but had."""
        found = dict(self.source.tables())
        if isinstance(self.source, SampledSource) and not self.source.lists_all_tables:
            for name in sources:
                known = self.tables.schema_of(name)
                if known is not None:
                    found.setdefault(name, known)
        return found

    def _add(self, pattern: str) -> Boundary | None:
        check_pattern(pattern)
        position = self.position()
        if isinstance(self.source, WideningSource):
            self.source.include(pattern)
        rules = self.tables.rules.widened([pattern])
        found = self.source.tables()
        new = [
            name
            for name in sorted(found)
            if rules.wants(name) and self.tables.target_of(name) is None
        ]
        if not new:
            raise NotFoundError(
                f"{self.source.name} has no table that {pattern!r} matches and that is not read "
                f"yet.{close_matches(pattern, [*found])}"
            )
        if position is not None:
            position = self._rereadable(f"add({pattern!r})").before_rows(position, new)
        self.tables.add(pattern, {name: found[name] for name in new})
        return Boundary(position=position, phase=Phase.STREAM)

    def _refused(self, what: str) -> str | None:
        """Return the name of a table that the source could not read; None: it is another one."""
        names = (what, f"{self.tables.rules.into}.{what}")
        for name, refused in self.tables.refused.items():
            if name in names or what in refused.sources:
                return name
        return None

    def _target(self, what: str) -> Target:
        targets = self.tables.targets
        for name in (what, f"{self.tables.rules.into}.{what}"):
            if name in targets:
                return targets[name]
        found = self.tables.target_of(what)
        if found is None:
            raise NotFoundError(
                f"ingest job {self.job} has no table {what!r}.{close_matches(what, [*targets])}"
            )
        return found

    def _rereadable(self, what: str) -> RereadableSource:
        if not isinstance(self.source, RereadableSource):
            raise UnsupportedError(
                what,
                f"{self.source.name} has no rows of tables that could be read anew: read it with a "
                "job of another name",
            )
        return self.source
