"""``paimonlab COMMAND …``."""

from __future__ import annotations

from typing import Any

import click

import paimonlab
from paimonlab.cli import expiring, jobs, names, repairing, rows
from paimonlab.cli.calling import call
from paimonlab.cli.compacting import compact
from paimonlab.cli.doctor import doctor
from paimonlab.cli.following import follow
from paimonlab.cli.fsck import fsck
from paimonlab.cli.health import health
from paimonlab.cli.looking import LISTINGS, listing, tables
from paimonlab.errors import PaimonError


class Commands(click.Group):
    """Shows what goes wrong on one line; a bug keeps its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except PaimonError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(paimonlab.__version__)
def main() -> None:
    """Look after Apache Paimon tables.

    The exit code is 0 if all went well, 1 if something was wrong or found, 2 if the command line
    was. Commands that delete say what they would do, and do it with --yes.
    """


_COMMANDS: tuple[click.Command, ...] = (
    tables,
    *map(listing, LISTINGS),
    rows.scan,
    rows.lookup,
    rows.changes,
    follow,
    names.create_tag,
    names.delete_tag,
    names.create_branch,
    names.delete_branch,
    names.fast_forward,
    names.reset_consumer,
    compact,
    call,
    expiring.expire,
    expiring.expire_changelogs,
    expiring.expire_partitions,
    expiring.expire_tags,
    expiring.expire_consumers,
    expiring.orphans,
    repairing.repair,
    repairing.purge,
    repairing.rescale,
    repairing.rewrite_file_index,
    jobs.rollback,
    jobs.analyze,
    jobs.compact_manifests,
    jobs.drop_partition,
    jobs.mark_partition_done,
    fsck,
    health,
    doctor,
)
for _command in _COMMANDS:
    main.add_command(_command)
