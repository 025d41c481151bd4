"""Catalogs of Iceberg's that tables are shown in, by ``metadata.iceberg.storage``."""

from __future__ import annotations

from paimonlab.catalog import iceberg_rest
from paimonlab.catalog.hive import iceberg
from paimonlab.commit.iceberg.catalogs import IcebergCatalog
from paimonlab.spec.iceberg.options import REST_CATALOG, IcebergPlace
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.table_options import Options


def iceberg_catalog(identifier: Identifier, options: Options) -> IcebergCatalog:
    """Return the catalog that the options of a table name: a Hive metastore, or a REST catalog.

    Raises
    ------
    ValueError
        If none is named.
    UnsupportedError
        If it is a metastore that is reached by Kerberos or TLS.
    """
    if options.slice(IcebergPlace).storage == REST_CATALOG:
        return iceberg_rest.iceberg_catalog(identifier, options)
    return iceberg.iceberg_catalog(identifier, options)
