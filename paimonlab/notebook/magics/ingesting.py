"""Sources of changes, and the jobs that read them in."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.notebook import commands
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line, unquoted, variables_of

_VERBS = ("stop", "pause", "resume", "replay", "resnapshot", "add")
_DROP = "drop"
_WITH_WHAT = ("resnapshot", "add")


@magics_class
class IngestMagics(Magics):
    """Name sources, look at jobs that read them in, and steer those."""

    @line_magic
    @magic_arguments()
    @argument("name", nargs="?", metavar="NAME", help="what statements call it")
    @argument("address", nargs="?", metavar="ADDRESS", help="or a variable that has a source")
    @argument("--forget", action="store_true", help="forget the name")
    def paimon_source(self, line: str) -> None:
        """Name a source of changes for CREATE TABLE … AS TABLE; without NAME, list them.

        ADDRESS: mysql://USER@HOST:PORT?password_env=NAME, postgres://USER@HOST:PORT/DB?slot=NAME,
        kafka://HOST:PORT, mongodb://USER@HOST:PORT/, files:FOLDER, paimon:WAREHOUSE, or the name of
        a variable.
        """
        options = arguments(self.paimon_source, line)
        with errors_on_one_line("ingest"):
            try:
                lines = commands.name_source(
                    options.name,
                    None if options.address is None else unquoted(options.address),
                    variables_of(self.shell),
                    forgets=options.forget,
                )
            except ValueError as error:
                raise wrong_use(str(error), "ingest") from error
        for one in lines:
            print(one)  # noqa: T201 - what a user waits for

    @line_magic
    @magic_arguments()
    @argument("name", nargs="?", metavar="NAME", help="of a job")
    @argument(
        "verb",
        nargs="?",
        metavar="stop|pause|resume|replay|resnapshot|add|drop",
        help="steer a job of this process, or drop one of the warehouse",
    )
    @argument("what", nargs="?", metavar="TABLE|PATTERN", help="of resnapshot, of add")
    @argument("--dead-letters", action="store_true", help="drop rows that were set aside, too")
    @argument("--dry-run", action="store_true", help="only show what would go (as without)")
    @argument("--yes", action="store_true", help="drop it")
    def paimon_ingest(self, line: str) -> View | None:
        """List the jobs that read changes in, show one, or steer it.

        resnapshot TABLE reads all rows of a table anew; add PATTERN reads more tables; replay puts
        rows in that were set aside and can be stored now; drop shows what a job has here and at its
        source, with --yes it deletes that. Tables stay.
        """
        options = arguments(self.paimon_ingest, line)
        with errors_on_one_line("ingest"):
            if options.verb is None:
                return commands.ingest_jobs(options.name and unquoted(options.name))
            if options.verb == _DROP and options.what is None:
                self._drop(options)
                return None
            if options.verb not in (*_VERBS, _DROP):
                raise wrong_use(f"{options.verb}: give {', '.join((*_VERBS, _DROP))}", "ingest")
            if options.yes or options.dry_run or options.dead_letters:
                raise wrong_use("--yes, --dry-run and --dead-letters are for drop", "ingest")
            if (options.what is not None) != (options.verb in _WITH_WHAT):
                raise wrong_use(
                    "give the table to resnapshot, the pattern of tables to add", "ingest"
                )
            what = "" if options.what is None else unquoted(options.what)
            return commands.steer_ingest(unquoted(options.name), options.verb, what)

    @staticmethod
    def _drop(options: Any) -> None:
        """Print what goes with a job and what stays."""
        if options.yes and options.dry_run:
            raise wrong_use("--yes and --dry-run exclude each other", "ingest")
        said = commands.drop_ingest(
            unquoted(options.name), dry_run=not options.yes, dead_letters=options.dead_letters
        )
        print(said)  # noqa: T201 - what a user waits for
        if not options.yes:
            print("nothing was changed; --yes does it")  # noqa: T201
