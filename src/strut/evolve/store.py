"""`JobStore`: everything that a job does, in one SQLite file that survives being killed at any moment.

Of each generation the population is written before it is evaluated, individuals as their measures arrive,
and the state of the search at its end, each in one transaction. A job goes on from what stands here. One
process writes; others may read meanwhile (write-ahead log).
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from strut.errors import ModelError, StorageError
from strut.evolve.job_lock import JobLock
from strut.evolve.job_spec import spec_difference, without_place
from strut.evolve.searches.method import SearchState
from strut.version import VERSION

LAYOUT = 1
"""Version of the tables below; a file of another is refused."""
TABLES = """
CREATE TABLE IF NOT EXISTS job (layout INTEGER, spec TEXT, sha TEXT, versions TEXT);
CREATE TABLE IF NOT EXISTS run (run INTEGER PRIMARY KEY, finished INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS generation (
    run INTEGER, generation INTEGER, individuals INTEGER, x BLOB, keys BLOB, state BLOB, seconds REAL,
    PRIMARY KEY (run, generation));
CREATE TABLE IF NOT EXISTS individual (
    run INTEGER, generation INTEGER, place INTEGER, measures BLOB, status TEXT,
    PRIMARY KEY (run, generation, place));
CREATE TABLE IF NOT EXISTS final (
    run INTEGER, number INTEGER, kind TEXT, generation INTEGER, place INTEGER, x BLOB, measures BLOB, keys
    BLOB, status TEXT, PRIMARY KEY (run, number));
CREATE TABLE IF NOT EXISTS machine (system BLOB, options TEXT);
"""
"""Numbers in BLOBs are float64, little-endian. `keys` and `state` are there once a generation is done, and
`state` only of the last one of a run. `final` has what was done with the best of a run at its end: see
`finals`."""
PACKAGES = ("numpy", "casadi", "cmaes")
"""Whose versions a file keeps beside those of strut and Python: results may depend on them."""
MAX_FREE_PART = 0.1
"""[1] Part of a file that may be free pages when it is closed."""
FLOAT = np.dtype("<f8")
"""How numbers are stored."""


@dataclass(frozen=True, eq=False)
class StoredGeneration:
    """A generation as it stands in a store: individuals in rows; measures are nan where there are none yet.

    has_measures: whose are there. keys: None until it is done. state: of the search after it.
    """

    generation: int
    x: np.ndarray
    measures: np.ndarray
    status: tuple[str, ...]
    has_measures: np.ndarray
    keys: np.ndarray | None
    state: SearchState | None
    seconds: float


@dataclass(frozen=True, eq=False)
class StoredFinal:
    """An individual at the end of a run: what was done with it (kind), and where it came from."""

    kind: str
    generation: int
    place: int
    x: np.ndarray
    measures: np.ndarray
    key: np.ndarray
    status: str


def present_versions() -> dict[str, str]:
    """Return the versions of strut, Python and packages that are here and that results may depend on."""
    versions = {"strut": VERSION, "python": platform.python_version()}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def _warn_of_versions(path: Path | None, before: Mapping[str, str]) -> None:
    """Say which versions a job began with and no longer has."""
    now = present_versions()
    others = [
        f"{name} {version}, not {now.get(name, 'absent')}"
        for name, version in before.items()
        if now.get(name) != version
    ]
    if others:
        warnings.warn(
            f"{path} began with {'; '.join(others)}: what is evaluated from here on may differ in its digits "
            "from what one version would have given",
            stacklevel=5,
        )


class JobStore:
    """The file of one job.

    path: where it is, or None for one in memory. spec: what the job is; a file of another job is refused.
    resume: whether a file that is there is gone on with. read_only: nothing is written, and the file may be
    in use.
    """

    def __init__(
        self,
        path: Path | None,
        spec: Mapping[str, Any] | None = None,
        *,
        resume: bool = False,
        read_only: bool = False,
    ) -> None:
        self.path = path
        self.lock: JobLock | None = None
        if path is not None:
            self._check_path(path, resume=resume, read_only=read_only)
        try:
            if read_only:
                assert path is not None
                self._database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
            else:
                self._database = sqlite3.connect(":memory:" if path is None else path, isolation_level=None)
                self._database.execute("PRAGMA journal_mode=WAL")
                self._database.execute("PRAGMA synchronous=NORMAL")
                self._database.executescript(TABLES)
            row = self._database.execute("SELECT layout, spec, sha, versions FROM job").fetchone()
        except (sqlite3.Error, UnicodeDecodeError) as error:  # of a message about damage
            self.close()
            raise StorageError(f"{path} is no file of a job, or damaged: {error}") from error
        if row is not None and row[0] != LAYOUT:
            self.close()
            raise StorageError(f"{path} has the layout {row[0]}, and this strut reads {LAYOUT}")
        if spec is not None:
            self._claim(spec, row)
        elif row is None:
            self.close()
            raise StorageError(f"{path} has no job in it")
        else:
            self.spec: dict[str, Any] = json.loads(row[1])

    def _check_path(self, path: Path, *, resume: bool, read_only: bool) -> None:
        """Refuse a place that cannot be used, and keep other writers away."""
        if read_only:
            if not path.is_file():
                raise StorageError(f"there is no file {path}")
            return
        if not path.parent.is_dir():
            raise StorageError(f"cannot write {path}: the directory {path.parent} does not exist; create it")
        if path.exists() and not resume:
            raise StorageError(
                f"{path} is there already: go on with it (--resume, resume=True), or choose another name"
            )
        self.lock = JobLock(path)

    def _claim(self, spec: Mapping[str, Any], row: Any) -> None:
        """Write what the job is, or check that the file is of the same one."""
        self.spec = json.loads(json.dumps(spec))
        sha = hashlib.sha256(json.dumps(self.spec, sort_keys=True).encode()).hexdigest()
        if row is None:
            with self._transaction() as database:
                database.execute(
                    "INSERT INTO job VALUES (?, ?, ?, ?)",
                    (LAYOUT, json.dumps(self.spec), sha, json.dumps(present_versions())),
                )
            return
        _warn_of_versions(self.path, json.loads(row[3]))
        if row[2] == sha:
            return
        old, new = without_place(json.loads(row[1])), without_place(self.spec)
        same = {"generations": new.get("generations")}
        if old == new:
            return
        if old | same == new:
            self._extend(old["generations"], sha)
        else:
            self.close()
            raise ModelError(
                f"{self.path} is of another job: {spec_difference(old | same, new)}; choose another file, "
                "or restore what was changed"
            )

    def _extend(self, before: int, sha: str) -> None:
        """Write that the job goes on to more generations than it was asked for at first."""
        asked = self.spec["generations"]
        if asked < before:
            self.close()
            raise ModelError(
                f"{self.path} was asked for {before} generations, and now for {asked}: a job goes on to as "
                "many or more; what it has is read by load_evolution"
            )
        with self._transaction() as database:
            database.execute("UPDATE job SET spec = ?, sha = ?", (json.dumps(self.spec), sha))
            database.execute("UPDATE run SET finished = 0")
            database.execute("DELETE FROM final")

    def close(self) -> None:
        """Close the file; others may write it then."""
        if hasattr(self, "_database"):
            if self.lock is not None:
                self._give_back_free_pages()
            self._database.close()
        if self.lock is not None:
            self.lock.release()

    def _give_back_free_pages(self) -> None:
        """Write the file anew without the pages that states of earlier generations left, where they are a
        good part of it. Where that fails, for a full disk or a reader, it stays as it is: nothing is lost."""
        with suppress(sqlite3.Error):
            (free,), (pages,) = (
                self._database.execute(f"PRAGMA {name}").fetchone()
                for name in ("freelist_count", "page_count")
            )
            if free > MAX_FREE_PART * pages:
                self._database.execute("VACUUM")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all of it or nothing."""
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                if self._database.in_transaction:  # SQLite has rolled back itself where the disk is full
                    self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            raise StorageError(
                f"cannot write {self.path}: {error}; what was written before is kept, and the job goes on "
                "from there when it is resumed"
            ) from error

    # ---- writing ----

    def write_population(self, run: int, generation: int, x: np.ndarray) -> None:
        """Write a population that will be evaluated."""
        with self._transaction() as database:
            database.execute("INSERT OR IGNORE INTO run (run) VALUES (?)", (run,))
            database.execute(
                "INSERT OR IGNORE INTO generation (run, generation, individuals, x) VALUES (?, ?, ?, ?)",
                (run, generation, len(x), _blob(x)),
            )

    def write_measures(
        self,
        run: int,
        generation: int,
        places: Sequence[int],
        measures: np.ndarray,
        status: Sequence[str],
    ) -> None:
        """Write measures of individuals; of one that has some already, the first stay."""
        rows = [
            (run, generation, place, _blob(row), word)
            for place, row, word in zip(places, measures, status, strict=True)
        ]
        with self._transaction() as database:
            database.executemany("INSERT OR IGNORE INTO individual VALUES (?, ?, ?, ?, ?)", rows)

    def write_state(
        self, run: int, generation: int, keys: np.ndarray, state: SearchState, seconds: float
    ) -> SearchState:
        """Write that a generation is done, and what the search knows after it; return the latter as it was
        written, to go on from: arrays in another order of memory round differently."""
        packed = pack_state(state)
        with self._transaction() as database:
            database.execute(
                "UPDATE generation SET keys = ?, state = ?, seconds = ? WHERE run = ? AND generation = ?",
                (_blob(keys), packed, seconds, run, generation),
            )
            database.execute(
                "UPDATE generation SET state = NULL WHERE run = ? AND generation < ?", (run, generation)
            )
        return unpack_state(packed)

    def keep_individual(self, run: int, generation: int, place: int, x: np.ndarray, key: np.ndarray) -> None:
        """Leave one individual of a generation that is done, as its first. x, key: of it, a row each."""
        with self._transaction() as database:
            database.execute(
                "UPDATE generation SET individuals = 1, x = ?, keys = ? WHERE run = ? AND generation = ?",
                (_blob(x), _blob(key), run, generation),
            )
            where = "WHERE run = ? AND generation = ? AND place"
            database.execute(f"DELETE FROM individual {where} != ?", (run, generation, place))
            database.execute(f"UPDATE individual SET place = 0 {where} = ?", (run, generation, place))

    def write_finals(self, run: int, finals: Sequence[StoredFinal]) -> None:
        """Write what was done with the best of a run at its end."""
        rows = [
            (run, k, each.kind, each.generation, each.place, *map(_blob, (each.x, each.measures, each.key)))
            for k, each in enumerate(finals)
        ]
        with self._transaction() as database:
            database.executemany(
                "INSERT OR REPLACE INTO final VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*row, each.status) for row, each in zip(rows, finals, strict=True)],
            )

    def write_finished(self, run: int) -> None:
        """Write that a run has come to its end."""
        with self._transaction() as database:
            database.execute("UPDATE run SET finished = 1 WHERE run = ?", (run,))

    def write_machine(self, system: bytes, options: Mapping[str, Any]) -> None:
        """Write the machine that is run, and options of its runs, for pictures of the best."""
        with self._transaction() as database:
            if database.execute("SELECT 1 FROM machine").fetchone() is None:
                database.execute("INSERT INTO machine VALUES (?, ?)", (system, json.dumps(dict(options))))

    # ---- reading ----

    def machine(self) -> tuple[bytes, dict[str, Any]] | None:
        """Return the machine that is run as bytes, and options of its runs; None where there is none."""
        try:
            row = self._database.execute("SELECT system, options FROM machine").fetchone()
        except sqlite3.OperationalError:  # a file of an earlier version
            return None
        return None if row is None else (row[0], json.loads(row[1]))

    def runs(self) -> dict[int, bool]:
        """Return which runs have begun, and which of them are finished."""
        rows = self._database.execute("SELECT run, finished FROM run ORDER BY run")
        return {run: bool(finished) for run, finished in rows}

    def generations_done(self) -> int:
        """Return how many generations of all runs are done."""
        row = self._database.execute("SELECT count(*) FROM generation WHERE keys NOTNULL").fetchone()
        return int(row[0])

    def generations(self, run: int) -> list[int]:
        """Return the numbers of the generations of a run that were begun."""
        rows = self._database.execute(
            "SELECT generation FROM generation WHERE run = ? ORDER BY generation", (run,)
        )
        return [row[0] for row in rows]

    def finals(self, run: int) -> list[StoredFinal]:
        """Return what was done with the best of a run at its end; nothing where that was not asked for."""
        table = self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'final'").fetchone()
        if table is None:  # a file of an earlier version
            return []
        rows = self._database.execute(
            "SELECT kind, generation, place, x, measures, keys, status FROM final WHERE run = ? "
            "ORDER BY number",
            (run,),
        )
        finals = []
        for kind, generation, place, *blobs, status in rows:
            x, measures, key = (np.frombuffer(each, FLOAT) for each in blobs)
            finals.append(StoredFinal(kind, generation, place, x, measures, key, status))
        return finals

    def read(self, run: int, generation: int) -> StoredGeneration:
        """Return a generation."""
        count, x, keys, state, seconds = self._database.execute(
            "SELECT individuals, x, keys, state, seconds FROM generation WHERE run = ? AND generation = ?",
            (run, generation),
        ).fetchone()
        rows = self._database.execute(
            "SELECT place, measures, status FROM individual WHERE run = ? AND generation = ? ORDER BY place",
            (run, generation),
        ).fetchall()
        width = len(rows[0][1]) // FLOAT.itemsize if rows else 0
        measures, status = np.full((count, width), np.nan), [""] * count
        has_measures = np.zeros(count, dtype=bool)
        for place, row, word in rows:
            measures[place], status[place], has_measures[place] = np.frombuffer(row, FLOAT), word, True
        return StoredGeneration(
            generation=generation,
            x=np.frombuffer(x, FLOAT).reshape(count, -1),
            measures=measures,
            status=tuple(status),
            has_measures=has_measures,
            keys=None if keys is None else np.frombuffer(keys, FLOAT).reshape(count, -1),
            state=None if state is None else unpack_state(state),
            seconds=seconds or 0.0,
        )


def is_unbegun(path: Path) -> bool:
    """Tell whether a file is that of a job which was killed before it had written what it is: such a one is
    begun anew. A file that is no database is not."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            tables = {
                row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            names = set(re.findall(r"EXISTS (\w+)", TABLES))
            return tables <= names and (
                "job" not in tables or not database.execute("SELECT 1 FROM job").fetchone()
            )
    except sqlite3.Error:
        return False


def pack_state(state: SearchState) -> bytes:
    """Return arrays by name as bytes: a line of JSON that says what they are, then their numbers."""
    arrays = {name: np.asarray(value) for name, value in sorted(state.items())}
    head = [[name, value.dtype.str, list(value.shape)] for name, value in arrays.items()]
    return json.dumps(head).encode() + b"\n" + b"".join(value.tobytes() for value in arrays.values())


def unpack_state(data: bytes) -> SearchState:
    """Return the arrays that `pack_state` packed."""
    line, _, rest = data.partition(b"\n")
    state: SearchState = {}
    for name, kind, shape in json.loads(line):
        dtype = np.dtype(kind)
        if dtype.hasobject:
            raise StorageError(f"the state of the search has '{name}' of a kind that is no number")
        size = dtype.itemsize * int(np.prod(shape, dtype=int))
        state[name] = np.frombuffer(rest[:size], dtype).reshape(shape).copy()
        rest = rest[size:]
    return state


def _blob(values: np.ndarray) -> bytes:
    """Return numbers as the tables have them, row by row."""
    return np.ascontiguousarray(values, FLOAT).tobytes()
