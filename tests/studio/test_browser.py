"""The studio as one uses it, in a real browser."""

import contextlib
import time

import pytest

from strut.codegen import find_wasm_compiler
from tests.view.browser import LOOKS, PATIENCE, browser

pytest.importorskip("starlette")

HOSTILE = "<img src=x onerror=document.title='taken'>"
SPRING = 'node "mass" { x = 1 v = 0 x\' = "v" v\' = "-k * x" k = 4 }\n'


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


class Tab:
    """A tab of a browser on a studio. It asks nobody else, and says nothing on its console."""

    def __init__(self, opened, studio, context=None, **look):
        self.context = context or opened.new_context(**(look or LOOKS["light"]))
        self.context.set_default_timeout(1000 * PATIENCE)
        self.page = self.context.new_page()
        self.said, self.strangers = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.note(request.url, studio.address))
        self.page.goto(studio.entrance)
        self.page.wait_for_selector("#machines button")

    def note(self, url, own):
        if not url.startswith((own, "blob:", "data:")):
            self.strangers.append(url)

    def open(self, name):
        self.page.click(f"#files button:has-text('{name}')")
        self.until(f"document.getElementById('file-name').textContent === '{name}'")

    def until(self, condition):
        """Wait by asking from outside: the page's own policy forbids to evaluate text in it."""
        end = time.monotonic() + PATIENCE
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, condition
            self.page.wait_for_timeout(50)

    def write(self, text):
        self.page.fill("#text", text)

    def wait(self, selector):
        self.page.wait_for_selector(selector, timeout=1000 * PATIENCE)

    def start(self, command, **values):
        self.page.click("#choose-start")
        self.page.select_option("#command", command)
        for name, value in values.items():
            self.page.fill(f"#field-{name}", value)
        self.page.click("#start")


@contextlib.contextmanager
def quiet(tab):
    yield tab
    assert tab.said == []
    assert tab.strangers == []


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "spring.cdn").write_text(SPRING)
    (tmp_path / "hostile.cdn").write_text(f"# {HOSTILE}\n" + SPRING.replace('"mass"', f'"{HOSTILE}"'))
    return tmp_path


def test_a_model_is_edited_into_an_error_and_back(chromium, studios, folder):
    with quiet(Tab(chromium, studios.start(folder))) as tab:
        tab.open("spring.cdn")
        tab.wait("#marks li.fine")
        tab.wait("#preview .curve")
        assert tab.page.locator("#preview .curve").count() == 2
        tab.write(SPRING + "\nedge {\n")
        tab.wait("#gutter .wrong")
        assert tab.page.inner_text("#gutter .wrong") == "3"
        assert tab.page.inner_text("#marks li").startswith("line 3:")
        tab.write(SPRING.replace("k = 4", "k = 9"))
        tab.wait("#marks li.fine")
        tab.page.click("#save")
        tab.wait("#notice.good")
        assert (folder / "spring.cdn").read_text() == SPRING.replace("k = 4", "k = 9")
        tab.page.click("#choose-graph")
        tab.wait("#tab-graph img")


def test_what_is_said_of_a_line_does_not_hide_it(chromium, studios, folder):
    lines = ['name = "leg"', "gravity = 9.81"]
    for k in range(40):
        lines += [f"[bodies.link{k}]", "mass = 1.0"]
    (folder / "leg.toml").write_text("\n".join(lines))
    with quiet(Tab(chromium, studios.start(folder))) as tab:
        tab.open("leg.toml")
        tab.wait("#preview, #tab-look p:not([role])")
        tab.write("")
        tab.wait("#marks li:not(.fine)")
        seen = "Math.floor((t => t.clientHeight / parseFloat(getComputedStyle(t).lineHeight))(document.getElementById('text')))"
        wrong = tab.page.evaluate(seen) // 2 * 2  # the last that is seen
        lines[wrong - 1] = "mas = 1.0"
        tab.write("\n".join(lines))
        tab.page.evaluate("document.getElementById('text').setSelectionRange(0, 0)")
        tab.page.evaluate("document.getElementById('text').scrollTop = 0")
        tab.until(
            f"[...document.querySelectorAll('#gutter .wrong')].map(e => e.textContent).join() === '{wrong}'"
        )
        assert tab.page.inner_text("#marks li").startswith(f"line {wrong}: [bodies.")
        text, number = (tab.page.locator(each).bounding_box() for each in ("#text", "#gutter .wrong"))
        assert number["y"] + number["height"] <= text["y"] + text["height"]


def test_a_slider_moves_the_preview_and_goes_into_the_form(chromium, studios, folder):
    with quiet(Tab(chromium, studios.start(folder), **LOOKS["dark"])) as tab:
        tab.open("spring.cdn")
        tab.wait("#preview .curve")
        before = tab.page.get_attribute("#preview .curve path", "d")
        tab.page.evaluate(
            "(s => { s.value = 8; s.dispatchEvent(new Event('input')); })(document.getElementById('slider-mass.k'))"
        )
        tab.page.wait_for_timeout(100)
        end = time.monotonic() + 60
        while tab.page.get_attribute("#preview .curve path", "d") == before:
            assert time.monotonic() < end
            tab.page.wait_for_timeout(50)
        tab.page.click("#choose-start")
        assert tab.page.input_value("#field-settings") == "mass.k=8"


def test_a_gait_is_found_and_a_design_cancelled(chromium, studios, folder):
    with quiet(Tab(chromium, studios.start(folder))) as tab:
        tab.page.click("#machines button:text-is('compass')")
        tab.start("gait")
        tab.wait("[data-state=done]")
        tab.wait("iframe")
        frame = tab.page.frame_locator("iframe")
        frame.locator("body", has_text="Stable").wait_for()
        tab.page.click("#machines button:text-is('kneed')")
        tab.start("design", speed="0.4", starts="40", budget="500")
        tab.wait("[data-cancel]")
        tab.page.wait_for_timeout(1500)
        while tab.page.locator("[data-cancel]").count():
            with contextlib.suppress(Exception):  # it may end between the look and the click
                tab.page.click("[data-cancel]", timeout=500)
            tab.page.wait_for_timeout(400)
        tab.wait("[data-state=cancelled]")


def test_hostile_names_do_nothing(chromium, studios, folder):
    with quiet(Tab(chromium, studios.start(folder))) as tab:
        tab.open("hostile.cdn")
        tab.wait("#marks li")
        tab.page.click("#choose-graph")
        tab.page.wait_for_timeout(500)
        tab.write(SPRING + f"\n{HOSTILE} {{\n")
        tab.wait("#gutter .wrong")
        assert tab.page.title() == "strut studio"
        assert tab.page.locator("#marks img, nav img").count() == 0


def test_two_tabs_and_a_restart_lose_nothing(chromium, studios, folder):
    studio = studios.start(folder)
    first = Tab(chromium, studio)
    second = Tab(chromium, studio, context=first.context)
    for tab in (first, second):
        tab.open("spring.cdn")
    first.write(SPRING + "# first\n")
    first.page.click("#save")
    first.wait("#notice.good")
    second.write(SPRING + "# second\n")
    second.page.click("#save")
    second.wait("#revert:visible")
    assert (folder / "spring.cdn").read_text() == SPRING + "# first\n"
    assert "changed elsewhere" in second.page.inner_text("#notice")
    assert second.page.input_value("#text") == SPRING + "# second\n"
    studio.stop()
    second.until("document.getElementById('notice').textContent.includes('kept in this browser')")
    third = Tab(chromium, studios.start(folder, studio.port), context=first.context)
    third.open("spring.cdn")
    assert third.page.input_value("#text") == SPRING + "# second\n"
    assert "not saved is here again" in third.page.inner_text("#notice")


def test_a_phone_shows_all_of_it(chromium, studios, folder):
    with quiet(Tab(chromium, studios.start(folder), **LOOKS["phone"])) as tab:
        tab.open("spring.cdn")
        tab.wait("#preview .curve")
        assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


def test_forms_tell_what_does_not_apply(chromium, studios, folder):
    (folder / "own.py").write_text("raise SystemExit\n")
    with quiet(Tab(chromium, studios.start(folder))) as tab:
        tab.open("spring.cdn")
        tab.wait("#preview .curve")
        tab.page.click("#choose-start")
        tab.page.select_option("#command", "gait")
        assert tab.page.is_disabled("#start")
        assert "could end a step" in tab.page.inner_text("#why-not")
        tab.page.select_option("#command", "run")
        assert tab.page.is_enabled("#start")
        assert "--drive" in tab.page.inner_text("#apart summary")
        assert tab.page.is_disabled("#field-drive")
        assert "no inputs" in tab.page.text_content("#apart .field:has(#field-drive) .why")
        tab.page.click("#machines button:text-is('compass')")
        tab.wait("#preview .curve")
        tab.page.click("#choose-start")
        tab.page.select_option("#command", "gait")
        assert tab.page.is_enabled("#start")
        assert tab.page.is_enabled("#field-drive")
        assert tab.page.is_disabled("#field-cells")
        assert tab.page.inner_text(".field:has(#field-cells) .why") == "with --basin alone"
        tab.page.fill("#field-sweep", "slope=0.02:0.06:20")
        tab.page.check("#field-basin")
        assert tab.page.is_enabled("#field-cells")
        tab.page.select_option("#command", "run")
        tab.page.select_option("#command", "gait")  # what was filled in is there again
        assert tab.page.input_value("#field-sweep") == "slope=0.02:0.06:20"
        tab.open("own.py")
        tab.wait("#marks li.fine")
        tab.until("document.getElementById('tab-look').textContent.includes('nothing of it is run')")
        tab.page.click("#choose-start")
        assert tab.page.is_disabled("#start")


def test_the_live_switch_of_a_result_leads_there(chromium, studios, folder, monkeypatch):
    """Pages of results are strangers to the studio; they lead to one another all the same."""
    if find_wasm_compiler() is None:
        pytest.skip("no compiler for WebAssembly is installed")
    monkeypatch.delenv("STRUT_LIVE")
    with quiet(Tab(chromium, studios.start(folder))) as tab:
        tab.page.click("#machines button:text-is('pendulum')")
        tab.start("run", t="1")
        tab.wait("[data-state=done]")
        frame = tab.page.frame_locator("iframe")
        frame.locator("#live-switch a").click()
        frame.locator("#say", has_text="frames/s").wait_for()
        live = next(each for each in tab.page.frames if "index-live.html" in each.url)
        end = time.monotonic() + 60
        while not live.evaluate("window.strutPage && strutPage.machine.t > 0.1"):
            assert time.monotonic() < end
            tab.page.wait_for_timeout(100)


def test_results_are_compared_from_the_library(chromium, studios, folder):
    with quiet(Tab(chromium, studios.start(folder))) as tab:
        for angle in ("0.3", "0.6"):
            tab.page.click("#machines button:text-is('pendulum')")
            tab.start("run", t="1", settings=f"angle={angle}")
            tab.wait("[data-state=done]")
        for number in (1, 2):
            tab.page.check(f"input[aria-label='compare run-pendulum-{number}']")
        tab.page.click("#compare")
        tab.wait("h2:has-text('compare')")
        tab.wait("[data-state=done]")
        text = tab.page.frame_locator("iframe").locator("body").inner_text(timeout=60_000)
        assert "run-pendulum-1" in text
        assert "run-pendulum-2" in text
