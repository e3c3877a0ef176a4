"""What the tests of this room share, made once: a browser, a walk, its report and its player."""

from types import SimpleNamespace

import pytest

import strut
from strut import gait, view, walkers
from tests.view.browser import LOOKS, Visit, browser


@pytest.fixture(scope="session")
def compass():
    """Ten seconds of walking, as asked of reports; nobody may change it."""
    return strut.simulate(walkers.compass(slope=strut.deg(3)), t=10)


@pytest.fixture(scope="session")
def walker():
    """What a search for gaits hands over: a gait, its branch through a doubling, the doubled branch, and a coarse basin."""
    found = gait.find(walkers.compass(slope=strut.deg(3)))
    branch = gait.follow(found.system, "slope", to=strut.deg(4.6), start=found, points=16)
    (doubling,) = branch.bifurcations
    doubled = doubling.doubled(to=strut.deg(4.6), points=10)
    return SimpleNamespace(gait=found, branch=branch, doubled=doubled, basin=gait.basin(found, cells=(8, 6)))


@pytest.fixture(scope="session")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def report(compass, tmp_path_factory):
    return view.page(
        compass, tmp_path_factory.mktemp("report") / "walk.html", asked="strut run compass --set slope=3deg"
    )


@pytest.fixture(scope="session")
def reading(chromium, report):
    """The report as it is seen by day, by night and on a phone: a function of the look."""
    visits = {}

    def visit(look):
        if look not in visits:
            visits[look] = Visit(chromium, report, **LOOKS[look])
        return visits[look]

    return visit


@pytest.fixture(scope="session")
def player(compass, tmp_path_factory):
    return compass.animate(tmp_path_factory.mktemp("player") / "walk.html", autoplay=False)


@pytest.fixture(scope="session")
def playing(chromium, player):
    """The player in a window, shared by the tests that leave it as it was."""
    visit = Visit(chromium, player, **LOOKS["small"])
    if visit.run("document.body.dataset.drawn") != "space":
        pytest.skip("the browser found here has no WebGL, not even in software")
    return visit
