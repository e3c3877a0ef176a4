"""A network reads files of its own folder, of given roots and of our library, and of nowhere else."""

import pytest

from strut import network
from strut.cli import main
from strut.errors import StorageError
from strut.network import NetworkError

SECRET = "root:x:0:0:secret"


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A folder of a model, one beside it with a library and a secret, and one where we are."""
    for name in ("model", "other", "here"):
        (tmp_path / name).mkdir()
    (tmp_path / "other" / "parts.cdn").write_text('node "b" { y = "1" }\n')
    (tmp_path / "other" / "secret").write_text(f"{SECRET}\n1 2 3\n")
    (tmp_path / "here" / "secret").write_text(f"{SECRET}\n")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv("CODYN_IMPORT_PATH", raising=False)
    return tmp_path


def model(places, text):
    path = places / "model" / "net.cdn"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        'include "../other/secret"',
        'include "{0}/other/secret"',
        'import "../other/secret" as "a"',
        'input "a" type "file" { settings { path = "../other/secret" } }',
        'include "secret"',  # found where we are, which is not where the model is
        'include "linked"',
    ],
)
def test_nothing_outside_is_read_or_told(places, text):
    (places / "model" / "linked").symlink_to(places / "other" / "secret")
    with pytest.raises(NetworkError) as refused:
        network.load(model(places, text.replace("{0}", str(places))))
    said = str(refused.value)
    assert "secret" in said or "linked" in said
    assert SECRET not in said
    assert "root:x" not in said
    assert "leads outside of the model's folder" in said, said
    assert "roots=['" in said
    assert "--root" in said


def test_a_root_is_read(places, capsys):
    path = model(places, 'include "../other/parts.cdn"')
    assert [n.name for n in network.load(path, roots=[places / "other"]).nodes] == ["b"]
    path = model(places, 'include "parts.cdn"')
    assert [n.name for n in network.load(path, roots=[places / "other"]).nodes] == ["b"]
    with pytest.raises(SystemExit) as left:
        main(["check", str(path), "--root", str(places / "other")])
    assert not left.value.code
    assert "1 nodes" in capsys.readouterr().out


def test_a_root_must_be_a_folder(places):
    path = model(places, 'node "a" {}')
    with pytest.raises(StorageError, match=r"the root '.*nowhere' is no folder: give one that exists"):
        network.load(path, roots=[places / "nowhere"])
    with pytest.raises(StorageError, match=r"roots is 'other': give a list of folders, roots=\['other'\]"):
        network.load(path, roots="other")


def test_files_below_and_in_our_library_are_read(places):
    (places / "model" / "parts").mkdir()
    (places / "model" / "parts" / "a.cdn").write_text('include "b.cdn"\n')
    (places / "model" / "parts" / "b.cdn").write_text('node "c" { y = "1" }\n')
    path = model(places, 'include "parts/a.cdn"\nrequire "physics/physics.cdn"\n')
    assert "c" in [n.name for n in network.load(path).nodes]
