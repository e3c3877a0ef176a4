"""Files of runs that lead elsewhere, in circles, or whose arrays contradict one another are refused."""

import h5py
import numpy as np
import pytest

import strut
from strut import Trajectory, walkers
from strut.errors import StorageError


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return strut.simulate(walkers.rimless_wheel(), t=3.0).save(tmp_path_factory.mktemp("saved") / "run.h5")


@pytest.fixture
def copy(saved, tmp_path):
    """A file to change: its path, and a function that replaces a dataset."""
    path = tmp_path / "run.h5"
    path.write_bytes(saved.read_bytes())
    return path


def exchange(path, place, change):
    with h5py.File(path, "r+") as file:
        data = file[place][()]
        del file[place]
        change(file, place, data)


def test_bytes_of_another_file_are_not_loaded(copy, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"correct horse battery staple....")

    def elsewhere(file, place, data):
        file.create_dataset(place, (4,), "f8", external=[(str(secret), 0, 32)])

    exchange(copy, "end/x_end", elsewhere)
    with pytest.raises(
        StorageError, match=r"cannot read .*run\.h5.*/end/x_end keeps its bytes in another file"
    ) as refused:
        Trajectory.load(copy)
    assert "horse" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda f, p, d: f.__setitem__(p, h5py.ExternalLink("other.h5", "/x")),
            "/points/outputs is an external link",
        ),
        (lambda f, p, d: f.__setitem__(p, h5py.SoftLink("/points/x")), "/points/outputs is a soft link"),
        (lambda f, p, d: f.__setitem__(p, h5py.SoftLink("/points/outputs")), "is a soft link"),
        (lambda f, p, d: f.__setitem__(p, f["points/x"]), "leads to a place that was reached before"),
        (
            lambda f, p, d: f.__setitem__("points/more", f["points"]),
            "leads to a place that was reached before",
        ),
        (lambda f, p, d: f.__setitem__(p, d[:-1]), r"points/outputs has shape"),
        (
            lambda f, p, d: f.create_dataset(p, (10**9, 10**3), "f8", chunks=True),
            r"/points/outputs declares 8000000000000 bytes and stores 0",
        ),
        (lambda f, p, d: f.__setitem__(p, "text"), "holds no numbers"),
        (lambda f, p, d: f.create_group("a/b/c/d/e/f/g"), "nested more than 4 deep"),
    ],
    ids=["external", "soft", "soft to itself", "twice", "circle", "short", "huge", "text", "deep"],
)
def test_what_leads_elsewhere_or_is_no_data_is_refused(copy, change, says):
    exchange(copy, "points/outputs", change)
    with pytest.raises(StorageError, match=rf"cannot read .*{says}"):
        Trajectory.load(copy)


def test_data_put_together_from_other_files_is_refused(copy):
    def virtual(file, place, data):
        layout = h5py.VirtualLayout(shape=data.shape, dtype="f8")
        layout[:] = h5py.VirtualSource("other.h5", "x", shape=data.shape)
        file.create_virtual_dataset(place, layout)

    exchange(copy, "points/outputs", virtual)
    with pytest.raises(StorageError, match="put together from other datasets"):
        Trajectory.load(copy)


@pytest.mark.parametrize(
    ("place", "change", "says"),
    [
        ("steps/t", lambda d: d[:-1], "has shape"),
        ("steps/t", lambda d: d[::-1], "times are not finite or do not increase"),
        ("steps/t", lambda d: d[:, None], "no row of numbers"),
        ("steps/poly", lambda d: d[..., :-1], "columns for 2 states|has shape"),
        ("steps/z", lambda d: np.hstack([d, d]), "its z has shape"),
        ("jumps/jump", lambda d: d + 7, "jumps/jump holds numbers outside of 0 to"),
        ("jumps/jump_after", lambda d: d + 10**6, "jumps/jump_after holds numbers outside of 0 to"),
        ("jumps/jump_after", lambda d: d[::-1].copy(), "does not increase"),
        ("end/x_end", lambda d: d[:1], "its x_end has shape"),
        ("end/status", lambda d: 99, "its end/status is 99"),
        ("parameters", lambda d: d[:-1], "names of parameters for values of shape"),
        ("scene/t", lambda d: d[:-1], "frames and"),
        ("scene/prints", lambda d: d[:, :2], "prints of its scene have shape"),
        ("scene/cuts", lambda d: d + 10**6, "cut outside of its"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(copy, place, change, says):
    exchange(copy, place, lambda file, place, data: file.__setitem__(place, change(data)))
    with pytest.raises(StorageError, match=rf"cannot read .*({says})"):
        Trajectory.load(copy)


def test_a_deeply_nested_text_is_refused(copy):
    with h5py.File(copy, "r+") as file:
        file.attrs["statistics"] = "[" * 30_000
    with pytest.raises(StorageError, match=r"cannot read .*damaged"):
        Trajectory.load(copy)


def test_a_changed_byte_is_seen_before_the_library_reads_it(copy):
    """Of some damage the HDF5 library never comes back."""
    data = bytearray(copy.read_bytes())
    data[len(data) // 2] ^= 1
    copy.write_bytes(data)
    with pytest.raises(StorageError, match=r"cannot read .*its checksum is not that of its content"):
        Trajectory.load(copy)


def test_a_file_that_another_program_wrote_again_is_read(copy):
    with h5py.File(copy, "r+") as file:
        file.attrs["note"] = "mine"
    assert Trajectory.load(copy).ok
