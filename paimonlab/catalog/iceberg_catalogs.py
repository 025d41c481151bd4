"""Catalogs of Iceberg's that tables are shown in, by ``metadata.iceberg.storage``."""

from __future__ import annotations

from paimonlab.catalog.hive import iceberg
from paimonlab.commit.iceberg.catalogs import IcebergCatalog
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.table_options import Options


def iceberg_catalog(identifier: Identifier, options: Options) -> IcebergCatalog:
    """Return the catalog that the options of a table name: a Hive metastore.

    Raises
    ------
    ValueError
        If no metastore is named.
    UnsupportedError
        If it is reached by Kerberos or TLS.
    """
    return iceberg.iceberg_catalog(identifier, options)
