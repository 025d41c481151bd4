"""Procedures about branches.

Source: apache/paimon@1.4.2 ``org.apache.paimon.spark.procedure.CreateBranchProcedure``,
``DeleteBranchProcedure``, ``FastForwardProcedure``; apache/paimon@5dacde5
``RenameBranchProcedure``, ``MergeBranchProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.errors import AlreadyExistsError, ArgumentError
from paimonlab.procedures.declare import DONE, RESULT, TABLE, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.spec.identifier import MAIN_BRANCH

_BRANCH = required("branch", "STRING", "The name of the branch.")


def _create_branch(call: Invocation) -> Sequence[Row]:
    table, name, tag = call.table(), call.required_text("branch"), call.text("tag")
    ignores = (call.filled("ignoreIfExists") or "false").lower()
    if ignores not in ("true", "false"):
        raise ArgumentError(call.procedure, f"ignoreIfExists => {ignores!r} is not true or false")
    try:
        table.branches.create(name, tag=tag)
    except AlreadyExistsError:
        if ignores == "false":
            raise
        call.note(f"{table.name}: branch {name} already exists")
    else:
        start = "empty" if tag is None else f"begins with tag {tag}"
        call.note(f"{table.name}: created branch {name}, {start}")
    return DONE


def _delete_branch(call: Invocation) -> Sequence[Row]:
    table = call.table()
    there = table.branches.list()
    names = dict.fromkeys(call.required_text("branch").split(","))
    # Missing ones come first, and are refused before another is deleted.
    for name in sorted(names, key=lambda name: name in there):
        table.branches.delete(name)
        call.note(f"{table.name}: deleted branch {name}")
    return DONE


def _rename_branch(call: Invocation) -> Sequence[Row]:
    table = call.table()
    name, target = call.required_text("from_branch"), call.required_text("to_branch")
    table.branches.rename(name, target)
    call.note(f"{table.name}: branch {name} is now {target}")
    return DONE


def _fast_forward(call: Invocation) -> Sequence[Row]:
    table, branch = call.table(), call.required_text("branch")
    table.branches.fast_forward(branch)
    snapshot = call.table().snapshot
    at = "" if snapshot is None else f", snapshot {snapshot.id:,}"
    call.note(f"{table.name}: continues from branch {branch}{at}")
    return DONE


def _merge_branch(call: Invocation) -> Sequence[Row]:
    target = call.table().on_branch(call.filled("target_branch") or MAIN_BRANCH)
    call.note(target.branches.merge(call.required_text("source_branch"), dry_run=call.is_dry_run))
    return DONE


BRANCH_PROCEDURES = (
    Procedure(
        name="create_branch",
        parameters=(
            TABLE,
            _BRANCH,
            optional("tag", "STRING", "The tag that it begins with; none: it begins empty."),
            optional("ignoreIfExists", "STRING", "Whether a branch of that name is no error."),
        ),
        result=RESULT,
        description="Make a branch.",
        rows=_create_branch,
    ),
    Procedure(
        name="delete_branch",
        parameters=(TABLE, required("branch", "STRING", "Names, separated by commas.")),
        result=RESULT,
        description="Delete branches.",
        rows=_delete_branch,
    ),
    Procedure(
        name="rename_branch",
        parameters=(
            TABLE,
            required("from_branch", "STRING", "The name of the branch."),
            required("to_branch", "STRING", "Its new name."),
        ),
        result=RESULT,
        description="Rename a branch.",
        rows=_rename_branch,
    ),
    Procedure(
        name="fast_forward",
        parameters=(TABLE, _BRANCH),
        result=RESULT,
        description="Let the table continue from what a branch has.",
        rows=_fast_forward,
    ),
    Procedure(
        name="merge_branch",
        parameters=(
            TABLE,
            required("source_branch", "STRING", "The branch that gives files."),
            optional("target_branch", "STRING", "The branch that takes them; none: main."),
        ),
        result=RESULT,
        description="Add the files of a branch to another one.",
        rows=_merge_branch,
        has_plan=True,
    ),
)
