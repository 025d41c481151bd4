"""Examples in the help of each command; a test runs all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_LISTED = ("schemas", "options", "tags", "branches", "consumers")
_AT_A_TIME = ("files", "manifests", "partitions", "buckets", "statistics")
_OTHER = "--catalog-option metastore=jdbc --catalog-option uri=jdbc:sqlite:tables.sqlite"
"""A catalog that knows no table yet."""

START = (
    "paimonlab load shop.sales sales.csv --create --primary-key id",
    'paimonlab sql "SELECT * FROM shop.sales"',
    "paimonlab shop.sales",
    "paimonlab health",
)
"""In the help of all commands: from a file to a table that one can look at."""
EXAMPLES: Mapping[str, Sequence[str]] = {
    "tables": ("paimonlab tables", "paimonlab tables ./warehouse shop --json"),
    "describe": ("paimonlab describe shop.orders", "paimonlab ./warehouse shop.orders"),
    "snapshots": (
        "paimonlab snapshots shop.orders -n 5",
        "paimonlab snapshots shop.orders --where \"commit_kind = 'COMPACT'\" --format csv",
    ),
    **{name: (f"paimonlab {name} shop.orders",) for name in _LISTED},
    **{
        name: (f"paimonlab {name} shop.orders", f"paimonlab {name} shop.orders --snapshot 1")
        for name in _AT_A_TIME
    },
    "sql": (
        'paimonlab sql "SELECT dt, sum(amount) AS total FROM shop.orders GROUP BY dt"',
        "paimonlab sql 'SELECT * FROM shop.`orders$files`' --format csv",
    ),
    "scan": (
        "paimonlab scan shop.orders -n 5",
        'paimonlab scan shop.orders --columns id,amount --where "amount > 10" --format csv',
        "paimonlab scan shop.orders --snapshot 1 --count",
    ),
    "lookup": ("paimonlab lookup shop.orders dt=2026-01-01 id=1",),
    "changes": (
        "paimonlab changes shop.orders yesterday --mode diff",
        "paimonlab changes shop.orders 1 2",
    ),
    "follow": ("paimonlab follow shop.orders --until latest",),
    "create": (
        "paimonlab create shop --if-not-exists",
        "paimonlab create shop.users 'id BIGINT NOT NULL' 'name STRING' --primary-key id",
        "paimonlab create shop.prices --like prices.csv -o bucket=2 --primary-key item",
    ),
    "register": (
        f"paimonlab create shop --if-not-exists {_OTHER}",
        f"paimonlab register shop.orders ./warehouse/shop.db/orders {_OTHER}",
    ),
    "clone": (
        "paimonlab clone ./warehouse ./backup --database shop --dry-run",
        "paimonlab clone ./copy --dry-run",
        "paimonlab clone ./warehouse ./backup --database shop --table orders --tag v1 --yes",
    ),
    "migrate": (
        "paimonlab migrate shop.events ./events --dry-run",
        "paimonlab migrate shop.events ./events --yes",
        "paimonlab migrate ods.prices ./arriving --from csv --primary-key item --yes",
        "paimonlab migrate ods.sales ./delta/sales --from delta -o bucket=-1 --yes",
    ),
    "ingest": (
        "paimonlab ingest files ./arriving --into ods --name prices --primary-key item --dry-run",
        "paimonlab ingest files ./arriving --into ods --name prices --primary-key item",
        "paimonlab ingest table shop.orders --into ods --name orders",
        "paimonlab ingest run job.yaml --until caught-up",
        "paimonlab ingest status",
        "paimonlab ingest drop prices --dry-run",
    ),
    "load": (
        "paimonlab load shop.prices prices.csv",
        "paimonlab load shop.rates prices.csv --create --primary-key item",
    ),
    "compact": (
        "paimonlab compact shop.orders",
        "paimonlab compact shop.orders --full --partition dt=2026-01-01 --dry-run",
    ),
    "compact-manifests": ("paimonlab compact-manifests shop.orders",),
    "rescale": ("paimonlab rescale shop.orders --buckets 2 --yes",),
    "rewrite-file-index": ("paimonlab rewrite-file-index shop.orders",),
    "analyze": ("paimonlab analyze shop.orders --columns id,amount",),
    "expire": (
        "paimonlab expire shop.orders --older-than '7 d' --dry-run",
        "paimonlab expire shop.orders --retain-max 50 --yes",
    ),
    "expire-changelogs": ("paimonlab expire-changelogs shop.orders --older-than '7 d' --dry-run",),
    "expire-partitions": (
        "paimonlab expire-partitions shop.orders --expiration-time '9000 d' --dry-run",
    ),
    "expire-tags": ("paimonlab expire-tags shop.orders --dry-run",),
    "expire-consumers": ("paimonlab expire-consumers shop.orders --older-than '7 d' --dry-run",),
    "orphans": ("paimonlab orphans shop.orders --dry-run",),
    "create-tag": ("paimonlab create-tag shop.orders v1 --time-retained '30 d'",),
    "delete-tag": ("paimonlab delete-tag shop.orders v1 --yes",),
    "create-branch": ("paimonlab create-branch shop.orders dev --snapshot 1",),
    "delete-branch": ("paimonlab delete-branch shop.orders dev --yes",),
    "fast-forward": ("paimonlab fast-forward shop.orders dev --dry-run",),
    "reset-consumer": ("paimonlab reset-consumer shop.orders reader --next-snapshot 1",),
    "rollback": ("paimonlab rollback shop.orders --snapshot 1 --dry-run",),
    "drop-partition": ("paimonlab drop-partition shop.orders dt=2026-01-01 --dry-run",),
    "mark-partition-done": ("paimonlab mark-partition-done shop.orders dt=2026-01-01",),
    "purge": ("paimonlab purge shop.rates --dry-run",),
    "health": ("paimonlab health", "paimonlab health shop.orders --fail-on error"),
    "fsck": ("paimonlab fsck shop.orders --deep", "paimonlab fsck ./warehouse"),
    "repair": ("paimonlab repair shop.orders --dry-run",),
    "doctor": ("paimonlab doctor ./warehouse",),
    "call": ("paimonlab call \"sys.compact(table => 'shop.orders')\" --dry-run",),
    "serve": (
        "paimonlab serve ./warehouse --port 0",
        "paimonlab serve --port 0 --read-only --audit-log requests.jsonl",
    ),
    "completion": (
        'eval "$(paimonlab completion bash)"',
        'eval "$(paimonlab completion zsh)"',
        "paimonlab completion fish | source",
    ),
}
"""By the name of the command."""
