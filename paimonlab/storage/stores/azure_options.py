"""Options of Azure's storage, as Paimon and Hadoop's ABFS and WASB call them.

Sources: apache/paimon@1.3.1 ``org.apache.paimon.azure.AzureFileIO`` (``azure.``, ``fs.azure.`` and
``fs.wasb.`` mean the same); Hadoop's ``hadoop-azure`` (``abfs.md``, ``wasb.md``). A name may end
with the host of an account, which it is then for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from paimonlab.errors import UnsupportedError
from paimonlab.secrets import is_secret
from paimonlab.storage.schemes import AZURE, named_options
from paimonlab.storage.stores.keys import AzureKey
from paimonlab.storage.stores.option_values import OptionValues

_OF_ACCOUNTS = (
    "account.key",
    "account.auth.type",
    "account.oauth.provider.type",
    "account.oauth2.client.id",
    "account.oauth2.client.secret",
    "account.oauth2.client.endpoint",
    "account.oauth2.msi.tenant",
    "account.oauth2.msi.endpoint",
    "account.oauth2.token.file",
    "sas.fixed.token",
)
"""Those that may be for one account."""
_OF_ALL = ("endpoint", "io.retry.max.retries", "http.connection.timeout", "http.read.timeout")
_SAS = "sas."
_HOST = re.compile(r"(?P<account>[a-z0-9]{3,24})\.(?:dfs|blob)\.(?P<domain>[a-z0-9.-]+)")
_TENANT = re.compile(r"(?P<host>https://[^/]+)/(?P<tenant>[^/]+)/oauth2/(?:v2\.0/)?token/?")
_PROVIDERS = {
    "ClientCredsTokenProvider": "client_secret",
    "MsiTokenProvider": "managed_identity",
    "WorkloadIdentityTokenProvider": "workload_identity",
}


@dataclass(frozen=True, slots=True)
class AzureOptions:
    """How Azure's storage is reached. Picklable: executors need the keys."""

    values: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Name without prefix, and value, of those that name accounts or containers."""
    endpoint: str | None = None
    """Of all accounts, with the account in its path: an emulator; None: of the account."""
    renewal: Callable[[], AzureKey] | None = field(default=None, repr=False)
    """Gives keys that hold for a while, and is asked for them again and again; None: they stay."""
    max_retries: int = 10
    timeout_millis: int = 60_000
    connect_timeout_millis: int = 10_000

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be in any message."""
        return tuple(value for name, value in self.values if value and is_secret(f"azure.{name}"))


def azure_options(options: Mapping[str, str]) -> AzureOptions:
    """Read the options of Azure among those of a catalog.

    Raises
    ------
    UnsupportedError
        If an option is not implemented.
    ValueError
        If two names of one option have different values, or a value is not allowed.
    """
    values, keys = named_options(AZURE, options)
    given = OptionValues(values, keys)
    for name, value in values.items():
        if not _is_known(name):
            raise UnsupportedError(f"{keys[name]} = '{value}'")
    return AzureOptions(
        values=tuple((name, value) for name, value in values.items() if name not in _OF_ALL),
        endpoint=given.address("endpoint"),
        max_retries=given.number("io.retry.max.retries", 10),
        timeout_millis=given.number("http.read.timeout", 60_000),
        connect_timeout_millis=given.number("http.connection.timeout", 10_000),
    )


def container_config(options: AzureOptions, authority: str) -> dict[str, str]:
    """Return what obstore takes for a container.

    Parameters
    ----------
    options
        Those of the catalog.
    authority
        ``container@account.dfs.core.windows.net``, as in the URI.

    Raises
    ------
    UnsupportedError
        If the account is not named, or what gives its keys is not implemented.
    ValueError
        If something is missing.
    """
    container, at, host = authority.partition("@")
    match = _HOST.fullmatch(host)
    if not at or match is None:
        raise UnsupportedError(
            f"'abfs://{authority}'", "it is container@account.dfs.core.windows.net that is reached"
        )
    endpoint = options.endpoint or f"https://{match['account']}.blob.{match['domain']}"
    found = {
        "container_name": container,
        "account_name": match["account"],
        "endpoint": endpoint,
    }
    return {**found, **_keys(_Account(options, container, match["account"], match["domain"]))}


def azure_key(options: AzureOptions, authority: str) -> AzureKey | None:
    """Return the key of an account or the signature that options give; None: they give neither."""
    config = container_config(options, authority)
    for name, kind in (("account_key", "access_key"), ("sas_key", "sas_token")):
        if name in config:
            return AzureKey(kind, config[name])
    return None


@dataclass(frozen=True, slots=True)
class _Account:
    options: AzureOptions
    container: str
    name: str
    domain: str

    def text(self, name: str) -> str | None:
        """Return the value for this account, else that for all."""
        hosts = [f"{self.name}.{kind}.{self.domain}" for kind in ("dfs", "blob")]
        values = dict(self.options.values)
        for full in (*(f"{name}.{host}" for host in hosts), name):
            if values.get(full):
                return values[full]
        return None

    @property
    def sas(self) -> str | None:
        """The shared access signature of the container, or of the account."""
        hosts = [f"{self.name}.{kind}.{self.domain}" for kind in ("dfs", "blob")]
        values = dict(self.options.values)
        container = self.container.lower().replace("-", ".")  # as in all names here
        own = (values.get(f"{_SAS}{container}.{host}") for host in hosts)
        return next(filter(None, own), None) or self.text("sas.fixed.token")


def _keys(account: _Account) -> dict[str, str]:
    kind = (account.text("account.auth.type") or "").lower()
    key, sas = account.text("account.key"), account.sas
    if kind in ("", "sharedkey") and key:
        return {"credential_type": "access_key", "account_key": key}
    if kind in ("", "sas") and sas:
        return {"credential_type": "sas_token", "sas_key": sas.removeprefix("?")}
    if kind == "oauth" or (not kind and account.text("account.oauth.provider.type")):
        return _oauth(account)
    if kind:
        problem = "its key is missing" if kind in ("sharedkey", "sas") else "not implemented"
        raise UnsupportedError(f"fs.azure.account.auth.type = '{kind}'", problem)
    return {}  # of the environment


def _oauth(account: _Account) -> dict[str, str]:
    provider = (account.text("account.oauth.provider.type") or "").rpartition(".")[2]
    if provider not in _PROVIDERS:
        raise UnsupportedError(
            f"fs.azure.account.oauth.provider.type = '{provider}'",
            f"known: {', '.join(_PROVIDERS)}",
        )
    names = {
        "client_id": "account.oauth2.client.id",
        "client_secret": "account.oauth2.client.secret",
        "tenant_id": "account.oauth2.msi.tenant",
        "msi_endpoint": "account.oauth2.msi.endpoint",
        "federated_token_file": "account.oauth2.token.file",
    }
    found = {name: account.text(key) for name, key in names.items()}
    config = {name: value for name, value in found.items() if value}
    address = account.text("account.oauth2.client.endpoint")
    if address:
        match = _TENANT.fullmatch(address)
        if match is None:
            raise ValueError(
                "fs.azure.account.oauth2.client.endpoint is not https://…/tenant/oauth2/token"
            )
        config["authority_host"], config["tenant_id"] = match["host"], match["tenant"]
    if provider == "ClientCredsTokenProvider" and not {
        "client_id",
        "client_secret",
        "tenant_id",
    } <= set(config):
        raise ValueError("fs.azure.account.oauth2.client.id, .secret or .endpoint is missing")
    return {"credential_type": _PROVIDERS[provider], **config}


def _is_known(name: str) -> bool:
    if name in _OF_ALL or name in _OF_ACCOUNTS:
        return True
    for known in _OF_ACCOUNTS:
        if name.startswith(f"{known}.") and _HOST.fullmatch(name[len(known) + 1 :]):
            return True
    parts = name.split(".")
    return name.startswith(_SAS) and any(
        _HOST.fullmatch(".".join(parts[first:])) for first in range(2, len(parts))
    )
