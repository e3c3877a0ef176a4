"""Ctrl-C while an extension module runs is an interrupt, and no error of the system."""

import casadi
import numpy as np
import pytest

from strut.errors import ModelError
from strut.interrupts import reveal_interrupts


def raise_interrupt_inside_casadi():
    """As Python tells it: a function written in C returned, although the interrupt was set."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as interrupt:
        raise SystemError("<function DM.__array__> returned a result with an exception set") from interrupt


def test_an_interrupt_inside_casadi_is_an_interrupt():
    with pytest.raises(KeyboardInterrupt), reveal_interrupts():
        raise_interrupt_inside_casadi()


def test_other_errors_stay_what_they_are():
    with pytest.raises(SystemError, match="by itself"), reveal_interrupts():
        raise SystemError("by itself")
    with pytest.raises(ModelError), reveal_interrupts():
        raise ModelError("a sentence")
    with reveal_interrupts():
        assert np.array(casadi.DM([1.0, 2.0])).sum() == 3.0


def test_a_design_that_is_interrupted_between_solves_keeps_what_it_had(monkeypatch):
    """Where other starts are prepared, CasADi evaluates derivatives: Ctrl-C there came as an error."""
    import strut.optimal.solver.other_starts as other_starts
    from strut import optimal, walkers

    monkeypatch.setattr(other_starts, "shake_unknowns", lambda *_: raise_interrupt_inside_casadi())
    design = optimal.design(walkers.compass(), speed=0.5, slope=0.0, starts=3)
    assert design.result.is_interrupted
    assert design.result.cost > 0


def test_ctrl_c_before_a_command_begins_is_no_traceback(monkeypatch, capsys):
    from strut import cli
    from strut.cli import app

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "main", interrupt)
    with pytest.raises(SystemExit) as end:
        cli.main(["list"])
    assert end.value.code == 130
    assert capsys.readouterr().err == "interrupted: nothing was begun yet\n"
