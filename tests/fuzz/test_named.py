"""Mistakes that people made, by name: each ends in a sentence that says what is wrong."""

import json
import sqlite3

import numpy as np
import pytest

import strut
from strut import gait, linear, mechanism, optimal, walkers
from strut.errors import ArgumentError, ModelError, StorageError, StrutError, ValueRangeError
from strut.mechanism import mjcf, modelfile, urdf
from strut.optimal.walk.sweep_file import SweepFile, SweepPoint
from tests.fuzz.calls import a_gait, pendulum, walker

MISTAKES = {
    "seed below zero": (
        lambda: strut.simulate(pendulum(), t=0.1, seed=-1),
        r"seed is -1: a whole number is needed, at least 0",
    ),
    "seed too large": (
        lambda: strut.simulate(pendulum(), t=0.1, seed=10**30),
        r"seed is 1000000000.*: a whole number is needed",
    ),
    "seed of a batch": (
        lambda: strut.simulate_batch(pendulum(), t=0.1, seed=1.5),
        r"seed is 1.5: a whole number is needed",
    ),
    "no tolerance": (
        lambda: strut.simulate(pendulum(), t=0.1, rtol=None),
        r"option 'rtol' is None: a number is needed",
    ),
    "endless tolerance": (
        lambda: strut.simulate(pendulum(), t=0.1, rtol=np.inf),
        r"rtol is inf: it must be positive and finite",
    ),
    "digits without end": (
        lambda: strut.simulate(pendulum(), t=0.1, rtol=10**5000),
        r"rtol is inf: it must be positive and finite",
    ),
    "half a step": (
        lambda: strut.simulate(pendulum(), t=0.1, max_steps=1.5),
        r"'max_steps' is 1.5: a whole number is needed",
    ),
    "a state too large": (
        lambda: strut.simulate(pendulum(), t=1, x0={"angle": 10**400}),
        r"state 'angle' is 1000.*: a number is needed",
    ),
    "at a word": (lambda: strut.simulate_batch(pendulum(), t=0.1, at="x"), r"at is 'x': numbers are needed"),
    "at a table": (
        lambda: strut.simulate_batch(pendulum(), t=0.1, at=[[0.1]]),
        r"at has the shape \(1, 1\): one number or a row of numbers",
    ),
    "half a thread": (
        lambda: strut.simulate_batch(pendulum(), t=0.1, threads=1.5),
        r"threads is 1.5: a whole number is needed, at least 1",
    ),
    "one bound": (
        lambda: strut.Param("a", 1, bounds=3),
        r"Param: bounds is 3: a tuple of 2, each a number is needed",
    ),
    "a bound of words": (lambda: strut.Param("a", 1, bounds=("a", 1)), r"bounds"),
    "a walker uncalled": (
        lambda: strut.export(walkers.pendulum, "out"),
        r"export: system is .*: a System is needed; call it, pendulum\(\)",
    ),
    "a name for a system": (
        lambda: strut.join("a", "b"),
        r"system.join: parts is 'b' \(a str\): a System is needed",
    ),
    "a mechanism for a system": (
        lambda: linear.linearise(strut.Mechanism("m")),
        r"linear.linearise: system is .*a System is needed; of a Mechanism m, give mechanism.system\(m\)",
    ),
    "no steps": (lambda: gait.find(walker(), steps=0), r"steps is 0: a whole number is needed, at least 1"),
    "no gait": (lambda: gait.find(walkers.simplest), r"is not a System|a System is needed"),
    "starts below zero": (
        lambda: gait.find(walker(), starts=-1),
        r"starts is -1: a whole number is needed, at least 0",
    ),
    "no points": (
        lambda: gait.follow(walker(), "slope", 0.01, a_gait(), points=0),
        r"points is 0: a whole number is needed, at least 2",
    ),
    "no cells": (lambda: gait.basin(a_gait(), cells=0), r"cells is 0: a whole number is needed, 2 to 10000"),
    "no push": (
        lambda: gait.push(a_gait(), {"stance": 0.0}),
        r"the direction of a push is .*: something must change",
    ),
    "no leg": (lambda: gait.froude(1.0, 0.0, 9.81), r"leg is 0.0: a positive number in m is needed"),
    "infinite speed": (
        lambda: optimal.design(walkers.compass_driven(), speed=np.inf),
        r"speed is inf: give a positive number, or bounds",
    ),
    "speed in words": (lambda: optimal.design(walkers.compass_driven(), speed="fast"), r"speed is 'fast'"),
    "no system to design": (lambda: optimal.design(None), r"None"),
    "a zero in a path": (
        lambda: strut.export(pendulum(), "a\0b"),
        r"export: directory is 'a\\x00b' \(a str\): a path that a file can have is needed",
    ),
    "a path too long": (
        lambda: urdf.load("a" * 5000),
        r"a path that a file can have is needed|File name too long",
    ),
    "a run at no time": (
        lambda: strut.simulate(pendulum(), t=0.1).at("now"),
        r"times is 'now': numbers are needed",
    ),
    "one argument too many": (
        lambda: strut.simulate(pendulum(), 1.0, 2.0),
        r"simulate: too many positional arguments; its arguments are system, t, x0",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, says = MISTAKES[mistake]
    with pytest.raises(StrutError, match=says):
        call()


def test_an_argument_of_the_wrong_kind_is_a_type_error_too():
    with pytest.raises(TypeError, match="a System is needed") as raised:
        strut.add_prefix(3, "left")
    assert isinstance(raised.value, ArgumentError)
    assert raised.value.__cause__ is not None


def test_an_error_of_a_users_function_passes_as_it_is():
    def control(moment):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        strut.simulate(pendulum(), t=0.1, control=strut.Hold(control, every=0.01))


@pytest.mark.parametrize("depth", [1000, 100_000])
def test_nesting_without_end(depth, tmp_path):
    with pytest.raises(ModelError, match="nested"):
        modelfile.parse("a = " + "[" * depth + "]" * depth)
    body = "<body>" * depth + "</body>" * depth
    with pytest.raises(ModelError, match=r"nested deeper than 200"):
        mjcf.parse(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    path = tmp_path / "page.json"
    path.write_text("[" * depth + "]" * depth)
    with pytest.raises(StorageError, match=r"cannot read .*page\.json"):
        strut.view.Result.load(path)
    loops = tmp_path / "loops.toml"
    loops.write_text("a = " + "[" * depth + "]" * depth)
    robot = tmp_path / "r.urdf"
    robot.write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(StorageError, match="cannot read the loops"):
        mechanism.urdf.load(robot, loops=loops)


def test_an_integer_of_thousands_of_digits():
    with pytest.raises(ModelError, match=r"model file"):
        modelfile.parse("[bodies.a]\nmass = " + "9" * 5000)


@pytest.mark.parametrize("damage", ["numbers", "plan", "value"])
def test_one_damaged_point_blocks_no_sweep(tmp_path, damage):
    asked = {"name": "speed"}
    path = tmp_path / "sweep.db"
    file = SweepFile(path, asked)
    for value in (1.0, 2.0, 3.0):
        file.put(SweepPoint(value, True, "done", {"cost": value}), None)
    with sqlite3.connect(path) as base:
        change = {
            "numbers": ("update points set numbers = ? where value = 2.0", ["{" * 5]),
            "plan": ("update points set plan = ? where value = 2.0", [b"no archive"]),
            "value": ("update points set value = ? where value = 2.0", ["two"]),
        }[damage]
        base.execute(*change)
    with pytest.warns(
        UserWarning, match=r"the point at .* in .*sweep\.db is damaged .*: it is left out, and found again"
    ):
        again = SweepFile(path, asked)
    assert sorted(again.points()) == [1.0, 3.0]
    with sqlite3.connect(path) as base:
        base.execute("update about set value = '[' where name = 'asked'")
    with pytest.raises(StorageError, match="holds another sweep"):
        SweepFile(path, asked)
    assert json.loads(json.dumps(asked)) == asked


def test_numbers_that_must_be_positive_say_so():
    from strut.checks import integer, ordered_pair, positive

    with pytest.raises(ValueRangeError, match=r"step is -1: a positive number in s is needed"):
        positive("step", -1, "s")
    with pytest.raises(ValueRangeError, match=r"n is True: a whole number is needed, 1 to 3"):
        integer("n", True, 1, 3)
    with pytest.raises(
        ValueRangeError, match=r"range is \(2, 1\): two numbers are needed, the lower one first"
    ):
        ordered_pair("range", (2, 1))
