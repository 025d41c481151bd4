"""All procedures by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from paimonlab.errors import ProcedureNotFoundError
from paimonlab.procedures.branches import BRANCH_PROCEDURES
from paimonlab.procedures.cloning import CLONE_PROCEDURES
from paimonlab.procedures.compacting import COMPACT_PROCEDURES
from paimonlab.procedures.consumers import CONSUMER_PROCEDURES
from paimonlab.procedures.copying import COPY_PROCEDURES
from paimonlab.procedures.expiring import EXPIRE_PROCEDURES
from paimonlab.procedures.kept import KEPT_PROCEDURES
from paimonlab.procedures.marking import MARK_PROCEDURES
from paimonlab.procedures.metastores import METASTORE_PROCEDURES
from paimonlab.procedures.migrating import MIGRATE_PROCEDURES
from paimonlab.procedures.procedure import Procedure
from paimonlab.procedures.refused import REFUSED_PROCEDURES
from paimonlab.procedures.rewriting import REWRITE_PROCEDURES
from paimonlab.procedures.rollbacks import ROLLBACK_PROCEDURES
from paimonlab.procedures.stray_files import FILE_PROCEDURES
from paimonlab.procedures.tags import TAG_PROCEDURES

PROCEDURES: Mapping[str, Procedure] = MappingProxyType(
    {
        procedure.name: procedure
        for procedure in sorted(
            (
                *TAG_PROCEDURES,
                *BRANCH_PROCEDURES,
                *ROLLBACK_PROCEDURES,
                *COMPACT_PROCEDURES,
                *REWRITE_PROCEDURES,
                *EXPIRE_PROCEDURES,
                *FILE_PROCEDURES,
                *CONSUMER_PROCEDURES,
                *MARK_PROCEDURES,
                *KEPT_PROCEDURES,
                *COPY_PROCEDURES,
                *CLONE_PROCEDURES,
                *METASTORE_PROCEDURES,
                *MIGRATE_PROCEDURES,
                *REFUSED_PROCEDURES,
            ),
            key=lambda procedure: procedure.name,
        )
    }
)
"""Those of Paimon's connector for Spark, and ``clone`` of Flink's; in alphabetical order."""


def find(name: str) -> Procedure:
    """Return a procedure by its name, in upper or lower case.

    Raises
    ------
    ProcedureNotFoundError
        If there is no such procedure; the message names similar ones.
    """
    procedure = PROCEDURES.get(name.lower())
    if procedure is None:
        raise ProcedureNotFoundError(name, tuple(PROCEDURES))
    return procedure
