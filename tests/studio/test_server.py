"""Who is answered by a studio, and what tasks leave behind."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from strut.errors import StorageError
from strut.studio import Workspace, serve
from strut.studio.guard import RequestGuard
from strut.studio.tasks import Tasks

pytest.importorskip("starlette")


def call(studio, what, data=None, **headers):
    """A request as the page makes it; `headers` replace its own, None leaves one out."""
    own = {
        "Cookie": f"{studio.guard.cookie}={studio.guard.token}",
        "X-Strut-Studio": "1",
        "Content-Type": "application/json",
    }
    for name, value in headers.items():
        own[name.replace("_", "-")] = value
    request = urllib.request.Request(
        f"{studio.address}api/{what}",
        json.dumps(data or {}).encode(),
        {name: value for name, value in own.items() if value is not None},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")


def until(condition, patience=180.0):
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    "headers",
    [
        {"Cookie": None},
        {"Cookie": "strut-studio-1=x"},
        {"X_Strut_Studio": None},
        {"Origin": "https://example.org"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Host": "example.org"},
    ],
)
def test_others_are_not_answered(studios, tmp_path, headers):
    studio = studios.start(tmp_path)
    assert call(studio, "overview")[0] == 200
    for what in ("overview", "save", "start"):
        status, answer = call(studio, what, {"name": "a.toml", "text": "x", "version": ""}, **headers)
        assert status == 403
        assert set(answer) == {"error"}
    assert list(tmp_path.iterdir()) == []


def test_the_page_needs_the_token(studios, tmp_path):
    studio = studios.start(tmp_path)
    for address in (studio.address, studio.address + "?token=guess", studio.address + "page/studio.js"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address)
        assert refused.value.code == 403


def test_bad_requests_get_a_sentence(studios, tmp_path):
    studio = studios.start(tmp_path)
    (tmp_path / "own.py").write_text("raise SystemExit\n")
    status, answer = call(studio, "start", {"command": "run", "subject": "own.py"})
    assert status == 400
    assert "no program is run from a page" in answer["error"]
    assert "cannot be started here" in call(studio, "start", {"command": "export"})[1]["error"]
    assert "save it first" in call(studio, "start", {"command": "run", "subject": "none.toml"})[1]["error"]
    answer = call(studio, "start", {"command": "run", "subject": "compass", "values": {"output": "/x"}})[1]
    assert "no field 'output'" in answer["error"]
    assert "no file of this studio" in call(studio, "open", {"name": "a/../../x.toml"})[1]["error"]
    assert call(studio, "cancel", {"task": "../.."})[0] == 400


def test_a_task_runs_and_is_there_after_a_restart(studios, tmp_path):
    studio = studios.start(tmp_path)
    values = {"t": "1", "settings": ["angle=0.5"]}
    name = call(studio, "start", {"command": "run", "subject": "pendulum", "values": values})[1]["task"]
    until(lambda: call(studio, "state")[1]["tasks"][0]["state"] == "done")
    studio.stop()
    (task,) = call(studios.start(tmp_path), "state")[1]["tasks"]
    assert task["name"] == name
    assert task["pages"] == ["index.html"]
    assert task["command"] == f"strut run pendulum --time=1 --set=angle=0.5 --output=results/{name}"
    assert (tmp_path / "results" / name / "run.h5").is_file()


@pytest.mark.parametrize(
    ("files", "order"),
    [
        (
            ["gait-1-live.html", "gait-1.html", "gait-2.html"],
            ["gait-1.html", "gait-2.html", "gait-1-live.html"],
        ),
        (
            ["index-live.html", "index.html", "design-1.html"],
            ["index.html", "design-1.html", "index-live.html"],
        ),
        (["result-live.html"], ["result-live.html"]),
    ],
)
def test_the_page_of_a_result_comes_before_its_live_page(tmp_path, files, order):
    place = tmp_path / "results" / "gait-compass-1"
    place.mkdir(parents=True)
    asked = {"command": "strut gait compass", "subject": "compass", "words": [], "began": 0.0}
    (place / "task.json").write_text(json.dumps(asked))
    (place / "output.txt").touch()
    for name in files:
        (place / name).write_text("<!doctype html>")
    (task,) = Tasks(tmp_path / "results", tmp_path).list()
    assert list(task.pages) == order


def test_results_are_compared_on_one_page(studios, tmp_path):
    studio = studios.start(tmp_path)
    for angle in ("0.3", "0.6"):
        values = {"t": "1", "settings": [f"angle={angle}"]}
        call(studio, "start", {"command": "run", "subject": "pendulum", "values": values})
    until(lambda: [task["state"] for task in call(studio, "state")[1]["tasks"]] == ["done", "done"])
    names = ["run-pendulum-1", "run-pendulum-2"]
    assert "choose them first" in call(studio, "compare", {"tasks": names[:1]})[1]["error"]
    call(studio, "compare", {"tasks": names})
    until(lambda: call(studio, "state")[1]["tasks"][0]["state"] != "running")
    page = call(studio, "state")[1]["tasks"][0]
    assert (page["state"], page["pages"]) == ("done", ["index.html"]), page["output"]
    text = (tmp_path / "results" / page["name"] / "index.html").read_text()
    assert all(name in text for name in names)
    (tmp_path / "results" / names[0] / "run.h5").unlink()
    assert "nothing to compare" in call(studio, "compare", {"tasks": names})[1]["error"]


def test_a_task_outlives_the_studio_and_can_be_cancelled_by_the_next(studios, tmp_path):
    studio = studios.start(tmp_path)
    values = {"t": "1e9", "integrator": "rk4"}
    call(studio, "start", {"command": "run", "subject": "pendulum", "values": values})
    place = tmp_path / "results" / "run-pendulum-1"
    until(lambda: (place / "pid").is_file())
    studio.stop()
    again = Tasks(tmp_path / "results", tmp_path)
    assert again.list()[0].state == "running"
    again.cancel("run-pendulum-1")
    time.sleep(0.5)
    again.cancel("run-pendulum-1")  # where an interrupt is not enough
    until(lambda: again.list()[0].state == "cancelled")


def test_a_cancelled_design_says_what_is_kept(studios, tmp_path):
    studio = studios.start(tmp_path)
    values = {"speed": "0.5", "starts": "2000"}
    name = call(studio, "start", {"command": "design", "subject": "compass", "values": values})[1]["task"]
    until(lambda: call(studio, "state")[1]["tasks"][0]["progress"].startswith("other starts"))
    call(studio, "cancel", {"task": name})
    until(lambda: call(studio, "state")[1]["tasks"][0]["state"] != "running")
    (task,) = call(studio, "state")[1]["tasks"]
    assert task["state"] == "cancelled"
    assert task["ending"].startswith(
        f"It was cancelled; what it had by then is kept in results/{name}: design.h5,"
    )
    assert task["pages"] == ["index.html"]
    assert "KeyboardInterrupt" not in task["output"]
    assert "interrupted: this is the best that the search had" in task["output"]
    assert (tmp_path / "results" / name / "design.h5").is_file()


def test_a_task_is_cancelled_before_it_has_a_process(tmp_path):
    place = tmp_path / "results" / "run-pendulum-1"
    place.mkdir(parents=True)
    (place / "task.json").write_text('{"command": "strut run pendulum", "subject": "pendulum", "began": 0}')
    (place / "output.txt").touch()
    (place / "cancel").touch()
    command = [
        sys.executable,
        "-m",
        "strut.studio.runner",
        str(place),
        "run",
        "pendulum",
        f"--output={place}",
    ]
    assert subprocess.run(command, timeout=60).returncode == 130
    (task,) = Tasks(tmp_path / "results", tmp_path).list()
    assert task.state == "cancelled"
    assert "before it had anything to keep" in task.ending


def test_a_killed_task_is_told_as_lost(studios, tmp_path):
    studio = studios.start(tmp_path)
    call(
        studio,
        "start",
        {"command": "run", "subject": "pendulum", "values": {"t": "1e9", "integrator": "rk4"}},
    )
    pid = tmp_path / "results" / "run-pendulum-1" / "pid"
    until(pid.is_file)
    os.kill(int(pid.read_text()), signal.SIGKILL)
    until(lambda: call(studio, "state")[1]["tasks"][0]["state"] == "lost")


def test_results_are_strangers_to_the_page(studios, tmp_path):
    studio = studios.start(tmp_path)
    place = tmp_path / "results" / "run-x-1"
    place.mkdir(parents=True)
    (place / "task.json").write_text('{"command": "strut run x", "subject": "x", "began": 0}')
    (place / "index.html").write_text("<p>page</p>")
    key = studio.guard.result_key("run-x-1")
    pages = f"{studio.address}results/run-x-1/{key}/"
    with urllib.request.urlopen(pages + "index.html") as answer:  # without a cookie: the word in it is enough
        assert answer.headers["Content-Security-Policy"].startswith("sandbox allow-scripts")
        assert "allow-same-origin" not in answer.headers["Content-Security-Policy"]
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(pages + "..%2F..%2F..%2Fsecret")
    other = studio.guard.result_key("run-x-2")  # that of another task, none, and one of another start
    for word in (other, "guess", RequestGuard(studio.port).result_key("run-x-1")):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{studio.address}results/run-x-1/{word}/index.html")
    stranger = urllib.request.Request(pages + "index.html", headers={"Host": "example.org"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(stranger)


def test_a_taken_port_is_said(studios, tmp_path):
    studio = studios.start(tmp_path)
    with pytest.raises(StorageError, match=f"port {studio.port} is taken"):
        serve(Workspace(tmp_path), [], port=studio.port)
