"""How far the Spark jobs of a job group are, as Spark itself keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

from paimonlab.notebook.kernel.progress import Job, Stage, StatementProgress, progress_of

if TYPE_CHECKING:
    from pyspark import SparkContext, StatusTracker


def read_progress(context: SparkContext, group: str) -> StatementProgress:
    """Add up the jobs that belong to a job group, as far as Spark still knows of them.

    Rows are those that tasks read, as Spark's own interface shows them: it learns of them
    when a task ends.
    """
    tracker = context.statusTracker()
    jobs = [_job(tracker, job_id) for job_id in tracker.getJobIdsForGroup(group)]
    ids = {stage.id for job in jobs for stage in job.stages}
    return progress_of(jobs, _rows(context, ids))


def _job(tracker: StatusTracker, job_id: int) -> Job:
    info = tracker.getJobInfo(job_id)
    if info is None:
        return Job(is_running=False, stages=())
    stages = [tracker.getStageInfo(stage_id) for stage_id in info.stageIds]
    return Job(
        is_running=info.status == "RUNNING",
        stages=tuple(
            Stage(
                stage.stageId,
                stage.numCompletedTasks,
                stage.numTasks,
                is_active=stage.numActiveTasks > 0,
            )
            for stage in stages
            if stage is not None
        ),
    )


def _rows(context: SparkContext, stage_ids: set[int]) -> int | None:
    store: Any = context._jsc.sc().statusStore()  # noqa: SLF001 - PySpark has no other way
    try:
        return sum(int(store.lastStageAttempt(stage_id).inputRecords()) for stage_id in stage_ids)
    except Py4JError:
        return None  # a stage that Spark has forgotten
