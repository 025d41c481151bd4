"""``paimonlab COMMAND …``."""

from __future__ import annotations

import click

import paimonlab
from paimonlab.cli import expiring, jobs, names, repairing, rows
from paimonlab.cli.calling import call
from paimonlab.cli.cloning import clone, register
from paimonlab.cli.commands import Commands
from paimonlab.cli.compacting import compact
from paimonlab.cli.describing import describe
from paimonlab.cli.doctor import doctor
from paimonlab.cli.following import follow
from paimonlab.cli.fsck import fsck
from paimonlab.cli.health import health
from paimonlab.cli.ingesting import ingest
from paimonlab.cli.looking import LISTINGS, listing, tables
from paimonlab.cli.making import create, load
from paimonlab.cli.migrating import migrate
from paimonlab.cli.querying import run_sql
from paimonlab.cli.serving import serve
from paimonlab.cli.shells import completion


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(paimonlab.__version__)
def main() -> None:
    """Look at Apache Paimon tables, fill them, and look after them.

    'paimonlab DB.TABLE' describes a table, 'paimonlab ./warehouse' lists all. The warehouse may
    be left out if it is configured, as for notebooks: by PAIMONLAB_WAREHOUSE or in a file.

    The exit code is 0 if all went well, 1 if something was wrong or found, 2 if the command line
    was. Commands that delete say what they would do, and do it with --yes.
    """


_SECTIONS: dict[str, tuple[click.Command, ...]] = {
    "Look": (tables, describe, *map(listing, LISTINGS)),
    "Read rows": (run_sql, rows.scan, rows.lookup, rows.changes, follow),
    "Make and fill": (create, load, migrate, ingest, clone, register),
    "Keep fast": (
        compact,
        jobs.compact_manifests,
        repairing.rescale,
        repairing.rewrite_file_index,
        jobs.analyze,
    ),
    "Keep small": (
        expiring.expire,
        expiring.expire_changelogs,
        expiring.expire_partitions,
        expiring.expire_tags,
        expiring.expire_consumers,
        expiring.orphans,
    ),
    "Tags, branches, consumers": (
        names.create_tag,
        names.delete_tag,
        names.create_branch,
        names.delete_branch,
        names.fast_forward,
        names.reset_consumer,
    ),
    "Undo and empty": (
        jobs.rollback,
        jobs.drop_partition,
        jobs.mark_partition_done,
        repairing.purge,
    ),
    "Check": (health, fsck, repairing.repair, doctor),
    "Else": (call, serve, completion),
}
for _title, _commands in _SECTIONS.items():
    main.add_section(_title, _commands)
