"""A page that compares runs says by which parameters they differ."""

import strut
from strut import State, System, view
from strut.system import Param


def test_parameters_that_differ_are_on_the_page(tmp_path):
    x, k, same = State("x", 1.0, "m"), Param("k", 1.0, "1/s"), Param("same", 2.0)
    decay = System("decay", x=(x,), p=(k, same), flow={x: -k * x * same})
    runs = {f"{value:g}": strut.simulate(decay, t=1, p={"k": value}) for value in (1.0, 3.5)}
    view.comparison(runs).save(tmp_path / "both.html")
    page = (tmp_path / "both.html").read_text()
    assert "Parameters that differ" in page
    assert "k [1/s]" in page
    assert "3.5" in page
    assert "same" not in page.partition("Parameters that differ")[2].partition("</table>")[0]
    assert "In motion" not in page.partition("<script")[0]  # there is nothing to see
