"""``paimonlab completion``: what a shell runs to complete words."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from paimonlab.cli.commands import command

_PROGRAM = "paimonlab"
SHELLS = ("bash", "fish", "zsh")


@command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, *, shell: str) -> None:
    """Print what lets a shell complete commands, tables and columns.

    Add one of the lines below to what your shell runs when it starts.
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click knows these shells"
    script = kind(ctx.find_root().command, {}, _PROGRAM, f"_{_PROGRAM.upper()}_COMPLETE")
    click.echo(script.source())
