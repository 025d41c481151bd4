"""``paimonlab serve``: a catalog for others, by Paimon's REST protocol."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from paimonlab import cli
from paimonlab.catalog.served import StoreRole
from paimonlab.cli.arguments import duration, in_warehouse, json_flag
from paimonlab.cli.commands import command
from paimonlab.cli.refusing import RefusedError, refused

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog

_TOKEN = "PAIMONLAB_SERVE_TOKEN"  # noqa: S105 - the name of a variable
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@command()
@click.option("--port", type=click.IntRange(0, 65535), default=8181, show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False),
    help=f"What clients must send is in this file; else in {_TOKEN}, else it is made and shown.",
)
@click.option(
    "--users",
    type=click.Path(exists=True, dir_okay=False),
    help="Users with tokens or keys and rights, in TOML, instead of one token.",
)
@click.option("--name", help="What clients call the warehouse; the name of its folder.")
@click.option("--read-only", is_flag=True, help="Refuse every change.")
@click.option("--audit-log", metavar="FILE", help="Add a line of JSON for each request.")
@click.option("--certificate", type=click.Path(exists=True), help="For TLS; --key as well.")
@click.option("--key", type=click.Path(exists=True), help="Of the certificate.")
@click.option(
    "--role",
    metavar="ARN",
    help="Of the store (S3): clients get tokens with its rights, for one table each.",
)
@click.option(
    "--sts-endpoint",
    metavar="URL",
    help="What gives the role's keys; the store's own endpoint, on AWS that of the region.",
)
@click.option(
    "--token-duration",
    callback=duration,
    metavar="TIME",
    help="How long tokens hold, from 15 min to 12 h; 1 h.",
)
@json_flag
@in_warehouse
def serve(
    catalog: Catalog,
    *,
    token_file: str | None,
    users: str | None,
    certificate: str | None,
    key: str | None,
    role: str | None,
    sts_endpoint: str | None,
    token_duration: timedelta | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Serve the catalog to paimonlab, Java Paimon and pypaimon, until it is stopped.

    Clients read and write files themselves: they must see the warehouse as well, or get tokens for
    its store, by --role.
    """
    token = _token(token_file)
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key belong together")
    pair = None if certificate is None or key is None else (certificate, key)
    of_store = _role(role, sts_endpoint, token_duration)
    try:
        with refused():
            server = catalog.serve(
                token=None if users else token,
                users=users,
                certificate=pair,
                role=of_store,
                **options,
            )
    except OSError as error:
        raise RefusedError(f"{options['host']}:{options['port']}: {error.strerror}") from error
    with server:
        made = server.token if users is None and token is None else None
        if as_json:
            click.echo(
                cli.output.json_text(
                    {"address": server.address, "warehouse": server.warehouse, "token": made}
                )
            )
        else:
            click.echo(f"{server.warehouse} at {server.address}")
            if made is not None:
                click.echo(f"token: {made}")
        if options["host"] not in _LOOPBACK and pair is None:
            click.echo("others can read what passes: give --certificate and --key", err=True)
        signal.signal(signal.SIGTERM, _end)
        try:
            server.wait()
        except KeyboardInterrupt:
            click.echo("stopped", err=True)


def _role(
    arn: str | None, sts_endpoint: str | None, token_duration: timedelta | None
) -> StoreRole | None:
    if arn is None:
        if sts_endpoint is not None or token_duration is not None:
            raise click.UsageError("--sts-endpoint and --token-duration need --role")
        return None
    role = StoreRole(arn=arn, sts_endpoint=sts_endpoint)
    return role if token_duration is None else replace(role, duration=token_duration)


def _end(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _token(path: str | None) -> str | None:
    if path is None:
        return os.environ.get(_TOKEN) or None
    token = Path(path).read_text(encoding="utf-8").strip()
    if not token:
        raise click.UsageError(f"{path} is empty")
    return token
