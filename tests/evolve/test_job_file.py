"""Job files, and the commands that run and show them."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from strut.cli.app import application
from strut.cli.model import find_model
from strut.errors import ModelError, StorageError, StrutError
from strut.evolve.job_file import read_job

EXAMPLE = Path(__file__).parents[2] / "examples" / "slip_job.toml"
SMALL = (
    EXAMPLE.read_text()
    .replace("generations = 25", "generations = 3")
    .replace("population = 40", "population = 6")
)


def written(tmp_path, text):
    path = tmp_path / "job.toml"
    path.write_text(text)
    return path


def run(*arguments):
    return CliRunner().invoke(application(["evolve", "jobs"]), [str(each) for each in arguments])


def test_the_example_says_what_it_says():
    job = read_job(EXAMPLE, find_model)
    attack = job.problem.space.parameters[0]
    assert attack.low == pytest.approx(0.994838, abs=1e-6)
    assert job.method.population == 40
    assert (job.generations, job.runs, job.seed) == (25, 3, 1)


def test_a_job_runs_stops_and_is_shown(tmp_path):
    path, output = written(tmp_path, SMALL), tmp_path / "slip.db"
    answer = run("evolve", path, "-o", output, "--json")
    assert answer.exit_code == 0, answer.output
    data = json.loads(answer.stdout)["result"]
    assert data["finished"]
    assert data["evaluations"] == 54
    assert 10000 <= data["best"]["parameters"]["stiffness"] <= 40000
    again = json.loads(run("jobs", output, "--json").stdout)["result"]["jobs"]
    assert again[0]["best"] == data["best"]
    assert again[0]["pid"] is None  # finished: no process works at it
    assert isinstance(run("evolve", path, "-o", output).exception, StorageError)
    assert (
        json.loads(run("evolve", path, "-o", output, "--resume", "--json").stdout)["result"]["best"]
        == data["best"]
    )
    assert "finished" in run("jobs", output).output
    both = json.loads(run("jobs", output, tmp_path / "none.db", "--json").stdout)["result"]["jobs"]
    assert both[0]["finished"]
    assert "there is no file" in both[1]["error"]
    assert not list(tmp_path.glob("*.lock"))


def test_a_job_that_is_stopped_exits_as_such(tmp_path, monkeypatch):
    """And says how to go on; --resume of what is not there says that the search begins."""
    path, output = written(tmp_path, SMALL), tmp_path / "slip.db"

    def stop(at):
        raise KeyboardInterrupt

    monkeypatch.setattr("strut.cli.evolve.tell_progress", lambda text, fraction: stop(text))
    answer = run("evolve", path, "-o", output, "--resume")
    assert answer.exit_code == 130
    assert f"there is no {output} to go on with: the search begins" in answer.output.replace("\n", " ")
    assert "--resume" in answer.output.partition("stopped;")[2]


def test_what_a_search_keeps_is_no_job(tmp_path):
    path, output = written(tmp_path, SMALL), tmp_path / "slip.db"
    run("evolve", path, "-o", output)
    refused = run("evolve", output)
    assert isinstance(refused.exception, ModelError)
    assert "is what a search keeps, not its job: strut evolve JOB.toml -o" in str(refused.exception)


def test_jobs_of_a_folder_are_shown(tmp_path, monkeypatch):
    for name in ("one.db", "two.db"):
        assert run("evolve", EXAMPLE, "-o", tmp_path / name, "--generations", "2").exit_code == 0
    monkeypatch.chdir(tmp_path)
    assert [Path(job["file"]).name for job in json.loads(run("jobs", "--json").stdout)["result"]["jobs"]] == [
        "one.db",
        "two.db",
    ]
    assert len(json.loads(run("jobs", tmp_path, "--json").stdout)["result"]["jobs"]) == 2
    (tmp_path / "empty").mkdir()
    assert "no file of it ends in .db" in str(run("jobs", "empty").exception)
    for request in (["--stop"], ["-o", "all.csv"]):
        assert "no job is named: give the file that strut evolve wrote" in str(
            run("jobs", *request).exception
        )


def test_a_job_without_a_card_goes_on_here(tmp_path):
    path = written(tmp_path, SMALL)
    job = read_job(path, find_model).on_device("cuda")
    assert job.problem.evaluation.options["device"] == "cuda"
    on_card, here = job.problem.settings(), read_job(path, find_model).problem.settings()
    assert on_card["evaluation"].pop("runs on") == "cuda"  # told, and no part of what is searched
    assert on_card == here


PROGRAM = """
import json, sys
for line in sys.stdin:
    task = json.loads(line)
    print(json.dumps({"id": task["id"], "measures": {"y": (task["parameters"]["x"] - 0.3) ** 2}}), flush=True)
"""


def test_programs_run_only_where_that_is_asked_for(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    text = f"""
    measures = ["y"]
    evaluate = {{ program = [{json.dumps(sys.executable)}, {json.dumps(str(program))}] }}
    parameters = {{ x = {{ low = 0, high = 1 }} }}
    goals = [{{ minimise = "y" }}]
    search = {{ kind = "swarm", population = 6, generations = 8 }}
    """
    path = written(tmp_path, text)
    refused = run("evolve", path, "-o", tmp_path / "a.db")
    assert isinstance(refused.exception, ModelError)
    assert "--run-code" in str(refused.exception)
    answer = run("evolve", path, "-o", tmp_path / "a.db", "--run-code", "--json")
    assert json.loads(answer.stdout)["result"]["best"]["parameters"]["x"] == pytest.approx(0.3, abs=0.05)


def test_python_models_run_only_where_that_is_asked_for(tmp_path):
    (tmp_path / "own.py").write_text("raise SystemExit('ran')\n")
    path = written(tmp_path, SMALL.replace('"slip"\ntime', '"own.py"\ntime'))
    answer = run("evolve", path, "-o", tmp_path / "a.db")
    assert "is Python, which would be run: add --run-code" in str(answer.exception)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[measures]", "[measure]", "a job has no 'measure': did you mean 'measures'"),
        ('kind = "swarm"', 'kind = "swam"', "did you mean 'swarm'"),
        ('maximise = "speed"', 'maximise = "speeed"', "did you mean 'speed'"),
        ('until = "steps >= 24"\n', "", "goal 1 .* has no condition"),
        ('maximise = "speed"', 'maximise = "speed"\nminimise = "steps"', "either minimise or maximise"),
        ("high = 40000", "hihg = 40000", "did you mean 'high'"),
        ("low = 10000, ", "", "'stiffness' has no 'low'|parameters.stiffness has no 'low'"),
        ("high = 40000", 'high = "40 deg"', "does not fit"),
        ("high = 40000", 'high = 40000, unit = "kg"', "counts it in 'N/m'"),
        ("time = 60", "", "needs time"),
        ('model = "slip"', 'model = "slipp"', "slip"),
        ("stiffness = {", "stifness = {", "did you mean 'stiffness'"),
        (
            'steps = "count.touchdown"',
            'steps = "count.touch"',
            "measure 'steps'.*did you mean 'count.touchdown'",
        ),
        ("seed = 1", "seed = -1", "seed is -1"),
        ("[search]", "[search", "is no TOML"),
        ('steps = "count.touchdown"', "steps = \"__import__('os')\"", "is no function"),
    ],
)
def test_wrong_jobs_are_explained(tmp_path, old, new, message):
    assert old in SMALL
    path = written(tmp_path, SMALL.replace(old, new))
    answer = run("evolve", path, "-o", tmp_path / "a.db")
    assert isinstance(answer.exception, StrutError), answer.output
    import re

    assert re.search(message, str(answer.exception), re.DOTALL), str(answer.exception)
    assert not (tmp_path / "a.db").exists() or "seed" in message
