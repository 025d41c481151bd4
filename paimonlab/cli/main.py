"""``paimonlab COMMAND …``."""

from __future__ import annotations

import click

from paimonlab.cli.fsck import fsck


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="paimonlab")
def main() -> None:
    """Look after Apache Paimon tables."""


main.add_command(fsck)
