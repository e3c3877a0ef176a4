"""`follow_job`: a page of a job that stays up to date while the job runs, without a server."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from pathlib import Path

from strut.checks import checked, positive
from strut.errors import StorageError
from strut.evolve import JobState, job_state, load_evolution
from strut.evolve.store import JobStore
from strut.files import put
from strut.report.evolution import evolution_result
from strut.report.job_pictures import JobPictures
from strut.view.pages.report import LiveSource


@checked
def follow_job(
    path: str | Path,
    page: str | Path,
    *,
    seconds: float = 2.0,
    on_ready: Callable[[Path], None] | None = None,
) -> JobState:
    """Write a page of a job, and keep it up to date until the job ends; return how it ended.

    path: the job's file, also before its first generation is done. page: .html; beside it a script, .live.js,
    that an open page loads every so many seconds. on_ready: called once, with where the page is, when it can
    be opened. A keyboard interrupt ends it, and leaves the page as it is.
    """
    positive("seconds", seconds, "s")
    source, target = Path(path).expanduser(), Path(page).expanduser()
    if not source.is_file():
        raise StorageError(f"there is no file {source}")
    script = target.with_suffix(".live.js")
    pictures = JobPictures()
    number, latest = 0, (-1, "")
    while True:
        finished, count = _generations_done(source)
        state = job_state(source, finished=finished)
        is_over = state.word not in ("running", "paused")
        if count and (count, state.word) != latest:
            report = evolution_result(
                source, f"strut view {source.name} --live", pictures, state.word
            ).report()
            latest = (count, state.word)
            put(script, report.live_news(number))
            if not number or is_over:  # the last word stands in the page itself, for whoever opens it later
                report.save(target, None if is_over else LiveSource(script.name, seconds))
            if not number and on_ready is not None:
                on_ready(target)
            number += 1
        if is_over:
            if not count:
                load_evolution(source)  # raises the error that says why there is nothing to show
            return state
        clock.sleep(seconds)


def _generations_done(path: Path) -> tuple[bool, int]:
    """Return whether a job is finished, and how many generations are done."""
    store = JobStore(path, read_only=True)
    try:
        runs, count = store.runs(), store.generations_done()
        return bool(runs) and all(runs.values()) and len(runs) == store.spec["runs"], count
    finally:
        store.close()
