"""Individuals of a job as a table for other programs: CSV, Parquet, HDF5 or MATLAB."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import h5py
import numpy as np

from strut.checks import checked
from strut.errors import StorageError, did_you_mean
from strut.evolve.evolution import load_individuals
from strut.evolve.store import JobStore
from strut.extras import optional_module
from strut.files import write_whole

MAX_MATLAB_NAME = 63
"""Characters of a name in MATLAB."""
Table = Mapping[str, np.ndarray]
"""Columns by name: numbers, or texts."""


@checked
def export_individuals(path: str | Path, to: str | Path) -> Path:
    """Write every individual of a job's file, with the columns of `load_individuals`, to another; what its
    name ends with says how: .csv, .parquet, .h5 or .mat. The job may still run. Return where it is.

    HDF5 has a dataset for each column; MATLAB a struct of columns whose names have _ for what a name may not
    have there, beside `names`, the names as they are. Both, and Parquet, have what the job is, as JSON
    (`spec`). Parquet needs pyarrow (strut[data]), MATLAB SciPy (strut[stiff]).
    """
    target = Path(to).expanduser()
    writer = WRITERS.get(target.suffix.lower())
    if writer is None:
        raise StorageError(
            f"cannot tell what to write from '{target.name}': {did_you_mean(target.suffix, list(WRITERS))}"
        )
    source = Path(path).expanduser()
    columns = load_individuals(source)
    store = JobStore(source, read_only=True)
    spec = json.dumps(store.spec)
    store.close()
    return write_whole(target, lambda scratch: writer(columns, spec, scratch))


def _write_csv(columns: Table, _: str, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*[column.tolist() for column in columns.values()], strict=True))


def _write_parquet(columns: Table, spec: str, path: Path) -> None:
    arrow = optional_module("pyarrow", "writing Parquet")
    parquet = optional_module("pyarrow.parquet", "writing Parquet")
    table = arrow.table({name: column.tolist() for name, column in columns.items()})
    parquet.write_table(table.replace_schema_metadata({"spec": spec}), str(path))


def _write_hdf5(columns: Table, spec: str, path: Path) -> None:
    """Built in memory and written in one go: the HDF5 library crashes when the disk is full."""
    image = io.BytesIO()
    with h5py.File(image, "w") as file:
        file.attrs["spec"] = spec
        for name, column in columns.items():
            text = column.dtype.kind == "U"
            file.create_dataset(
                name,
                data=column.astype(object) if text else column,
                dtype=h5py.string_dtype() if text else None,
            )
    path.write_bytes(image.getvalue())


def _write_matlab(columns: Table, spec: str, path: Path) -> None:
    scipy = optional_module("scipy.io", "writing MATLAB files")
    fields: dict[str, np.ndarray] = {}
    for name, column in columns.items():
        word = re.sub(r"\W", "_", name)[:MAX_MATLAB_NAME]
        word = word if word[0].isalpha() else f"p{word}"[:MAX_MATLAB_NAME]
        while word in fields:  # two names that differ in what a name may not have there
            word = f"{word[: MAX_MATLAB_NAME - 1]}_"
        fields[word] = (column.astype(object) if column.dtype.kind == "U" else column).reshape(-1, 1)
    names = np.array(list(columns), dtype=object).reshape(-1, 1)
    with path.open("wb") as file:
        scipy.savemat(
            file,
            {"individuals": fields, "names": names, "spec": spec},
            long_field_names=True,
            do_compression=True,
        )


WRITERS: dict[str, Callable[[Table, str, Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".h5": _write_hdf5,
    ".mat": _write_matlab,
}
"""By suffix, what writes a table."""
