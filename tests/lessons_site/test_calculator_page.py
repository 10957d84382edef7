"""The calculator's page: every recorded formula answers, by keyboard, in the dark, on a phone."""

from __future__ import annotations

import csv
import json
import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from click.testing import CliRunner
from offline_browser import chromium, missing, opened

from netcalc import calculator
from netcalc.cli.calc import calc
from netcalc.errors import DomainError, NetcalcError
from netcalc.lessons.site import calculator_page
from netcalc.lessons.site.recording import NotRecorded

pytestmark = pytest.mark.browser("other")  # all in one worker, as the page takes a minute to make
REFERENCE = Path(__file__).parents[1] / "reference"
browser_only = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return calculator_page.write(tmp_path_factory.mktemp("calculator") / "calculator.html")


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def test_the_page_is_one_small_file_that_loads_nothing(file):
    text = file.read_text(encoding="utf-8")
    assert file.stat().st_size < 2_000_000
    for way in ("src=", "@import", "url(", "import(", "fetch(", "XMLHttpRequest"):
        assert way not in text, way
    assert list(file.parent.iterdir()) == [file]


def test_formulas_that_are_not_recorded_are_listed_with_their_command(file):
    text = file.read_text(encoding="utf-8")
    functions, _ = calculator_page.formula_functions()
    left_out = [name for name, one in functions.items() if isinstance(one, NotRecorded)]
    assert "erlang.erlang_b_ratio" in left_out
    assert text.count("<th scope=row>") == len(left_out)
    command = "netcalc calc erlang-b --offered-erlang 20 --server-count 30"
    assert f"<code>{command}</code>" in text


def test_what_is_written_into_the_page_cannot_end_its_script(file):
    program = file.read_text(encoding="utf-8").rpartition("<script>")[2]
    assert program.count("</script") == 1
    assert calculator_page._json("</script><b>") == '"\\u003c/script>\\u003cb>"'


class TestInABrowser:
    """One browser for all, a page each."""

    pytestmark = browser_only

    @pytest.mark.parametrize("width", [390, 1280])
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_it_fits_its_window(self, browser, file, width, scheme):
        with opened(browser, file.as_uri(), width=width, color_scheme=scheme) as page:
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.inner_text("#answer") == "5.211 s"  # 30 ms + 8 Mbit over a T1 line
            ink, paper = page.evaluate(
                "(() => { const s = getComputedStyle(document.body);"
                " return [s.color, s.backgroundColor]; })()"
            )
            dark = sum(map(int, paper[4:-1].split(","))) < sum(map(int, ink[4:-1].split(",")))
            assert dark == (scheme == "dark")

    def test_every_formula_opens_with_the_answer_of_its_example(self, browser, file):
        with opened(browser, file.as_uri()) as page:
            found = page.evaluate(
                """() => netcalcData.formulas.map(one => {
                  netcalcPage.open(one.name);
                  const answer = document.getElementById('answer');
                  const values = [...document.querySelectorAll('#answer td')];
                  return [one.name, answer.className, values.length
                    ? values.map(cell => cell.textContent) : answer.textContent];
                })"""
            )
        functions, _ = calculator_page.formula_functions()
        for name, state, text in found:
            assert state == "", (name, text)
            formula = calculator.formula(name)
            if not formula.example or functions[name].words:
                continue
            result = formula.evaluate(formula.example)
            lines = calculator.result_lines(formula, result, formula.example)
            if isinstance(text, list):
                assert len(text) == len(lines), name
            else:
                number, _, _ = text.partition(" (")
                number, _, _ = number.partition(" : ")
                assert lines[0].startswith(number), (name, text, lines)

    def test_a_formula_is_found_and_used_by_keyboard(self, browser, file):
        with opened(browser, file.as_uri()) as page:
            page.focus("#search")
            page.keyboard.type("mathis")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            assert page.inner_text("#title") == "Throughput of Reno under loss (Mathis)"
            assert page.evaluate("document.activeElement.id") == "formula"
            for _ in range(2):
                page.keyboard.press("Tab")  # the first input, and its slider
            before = page.inner_text("#answer")
            page.keyboard.press("ArrowRight")
            page.wait_for_function("before => answer.textContent !== before", arg=before)
            assert page.evaluate("location.hash") == "#loss_limited.mathis_throughput_bps"

    def test_the_formula_that_is_shown_is_marked_wherever_it_is_listed(self, browser, file):
        with opened(browser, file.as_uri()) as page:
            marked = page.evaluate(
                """() => ['latency.transfer_s', 'mm1.mm1_wait_s'].map(name => {
                  netcalcPage.open(name);
                  return [...document.querySelectorAll('#found [aria-current]')]
                    .map(one => one.dataset.name === name);
                })"""
            )
        assert marked == [[True, True], [True]]  # the first is one of the most needed, too

    def test_every_control_has_a_name(self, browser, file):
        with opened(browser, file.as_uri()) as page:
            nameless = page.evaluate(
                """() => netcalcData.formulas.flatMap(one => {
                  netcalcPage.open(one.name);
                  return [...document.querySelectorAll('input, select, button')].filter(control =>
                    !control.labels?.length && !control.getAttribute('aria-label')
                    && !control.textContent.trim()).map(() => one.name);
                })"""
            )
        assert nameless == []

    def test_a_refused_input_says_what_python_says(self, browser, file):
        with opened(browser, file.as_uri() + "#loss_limited.mathis_throughput_bps") as page:
            page.fill("#input-rtt_s", "-3 ms")
            assert page.inner_text("#input-rtt_s-error") == "rtt must be greater than 0, got -3 ms."
            assert page.get_attribute("#input-rtt_s", "aria-invalid") == "true"
            page.fill("#input-rtt_s", "10 parsec")
            assert "the unit 'parsec' is unknown" in page.inner_text("#input-rtt_s-error")
            page.fill("#input-rtt_s", "10 ms")
            assert page.inner_text("#input-rtt_s-error") == ""
        with pytest.raises(DomainError, match="must be greater than 0"):
            calculator.formula("mathis-throughput").evaluate_text(
                {"loss": "1%", "mss": "1460 B", "rtt": "-3 ms"}
            )

    def test_a_doubtful_input_has_the_note_of_python(self, browser, file):
        formula = calculator.formula("mathis-throughput")
        given = {"loss_ratio": 0.3, "mss_bytes": 1460.0, "rtt_s": 0.1}
        with opened(browser, file.as_uri() + "#loss_limited.mathis_throughput_bps") as page:
            page.fill("#input-loss_ratio", "30%")
            page.fill("#input-mss_bytes", "1460 B")
            page.fill("#input-rtt_s", "100 ms")
            assert page.inner_text("#notes") == f"Note: {formula.doubt(*formula.answer(given))}"

    def test_a_script_typed_into_an_input_stays_text(self, browser, file):
        with opened(browser, file.as_uri()) as page:
            page.fill("#input-payload_bytes", "<img src=x onerror=alert(1)>")
            page.fill("#search", "<b>bold</b>")
            assert page.locator("#formula img, #choose b b").count() == 0
            assert "onerror" in page.inner_text("#input-payload_bytes-error")

    def test_a_slider_moves_the_input_and_the_curve(self, browser, file):
        with opened(browser, file.as_uri()) as page:
            before = page.get_attribute("#curve .here", "cx")
            page.locator("input[type=range]").first.focus()
            page.keyboard.press("End")
            page.wait_for_function(
                "() => document.getElementById('input-payload_bytes').value === '100 MB'"
            )
            page.wait_for_function(
                "before => document.querySelector('#curve .here').getAttribute('cx') !== before",
                arg=before,
            )
            page.select_option("#over", "latency_s")
            assert page.inner_text("#caption").startswith("Transfer time over latency")

    def test_the_page_finds_what_the_command_finds_and_says_it(self, browser, file):
        asked = [
            row["question"]
            for name in ("searches.csv", "practitioners.csv")
            for row in csv.DictReader(REFERENCE.joinpath(name).read_text("utf-8").splitlines())
        ]
        with opened(browser, file.as_uri()) as page:
            found = page.evaluate(
                "asked => asked.map(q => netcalcPage.search(q).map(f => f.name))", asked
            )
            assert len(asked) > 400
            for query, names in zip(asked, found, strict=True):
                assert names == [one.name for one in calculator.search(query)], query
            said = []
            for query in ("txqueuelen", "CPU temperature", "optical power budget", "qqqq"):
                page.fill("#search", query)
                said.append((page.inner_text("#found-count"), page.locator("#found li").count()))
        assert said[0][0].startswith("txqueuelen: packets that an interface of Linux queues")
        queries = ("CPU temperature", "optical power")
        for (text, count), query in zip(said[1:3], queries, strict=True):
            assert text.startswith(f"no formula matches '{query}"), text
            assert count == len(calculator.matches(query).nearest)
        assert said[3] == ("0 formulas", 0)

    def test_a_formula_that_needs_python_is_found_and_says_so(self, browser, file):
        with opened(browser, file.as_uri() + "#erlang.erlang_b_ratio") as page:
            assert "The command computes it" in page.inner_text("#answer")
            assert page.inner_text("#command").startswith("netcalc calc erlang-b ")

    def test_the_command_of_the_page_gives_the_answer_of_the_page(self, browser, file):
        with opened(browser, file.as_uri()) as page:
            assert json.loads(json.dumps(page.inner_text("#command"))) == (
                'netcalc calc transfer --payload "1 MB" --bandwidth "1.544 Mbit/s"'
                ' --latency "30 ms"'
            )

    def test_a_link_to_a_place_on_the_page_opens_no_formula(self, browser, file):
        with opened(browser, file.as_uri() + "#mm1.mm1_wait_s") as page:
            title = page.inner_text("#title")
            page.locator("#inputs input[type=text]").first.fill("0.5")
            page.evaluate("location.hash = 'formula'")
            page.wait_for_function("location.hash === '#formula'")
            page.evaluate("new Promise(done => setTimeout(done))")
            assert page.inner_text("#title") == title
            assert page.locator("#inputs input[type=text]").first.input_value() == "0.5"

    def test_a_choice_with_a_unit_is_in_the_command_as_the_command_reads_it(self, browser, file):
        with opened(browser, file.as_uri() + "#wifi.wifi_rate_bps") as page:
            page.locator("#inputs select").first.select_option(label="40 MHz")
            page.wait_for_function("document.querySelector('#command').textContent.includes('40')")
            command = page.inner_text("#command")
            answer = page.inner_text("#answer")
        assert '"40 MHz"' in command
        told = CliRunner().invoke(calc, shlex.split(command)[2:])
        assert told.exit_code == 0, told.output
        assert answer.split()[0] in told.output


SENTENCES = Path(__file__).parents[1] / "calculator" / "asked_sentences.csv"
ODD = [
    "window ٦٤ KiB rtt ٣ ms throughput", "10² g711 calls bandwidth", "40😀 g.711 calls, 2\u202e0ms",
    "windowſ 64 KiB rtt 10 ms", "max frame rate gigabit ethernet \ufeff", "3 mb at 10 MB/s",
    "throughput of 8 reno flows at 1% loss and 0 ms rtt", "mss for mtu 1400,60 byte",
]  # fmt: skip
LONG = "4 TB over 10G at 80 ms rtt with a 64 KiB window"
ASK = """(sentences) => sentences.map((sentence) => {
  try {
    return netcalcPage.ask(sentence).readings.map((one) => [one.question, one.command, one.value ?? null]);
  } catch (error) {
    if (!["Refusal", "UnitError"].includes(error.name)) throw error;
    return error.code;
  }
})"""  # noqa: E501


def readings(sentence):
    """The readings of a sentence in Python, or the code of what refuses it."""
    try:
        return calculator.ask(sentence).readings
    except NetcalcError as error:
        return error.code


@browser_only
def test_the_page_answers_sentences_as_the_command_does(file, browser):
    with SENTENCES.open(encoding="utf-8", newline="") as rows:
        sentences = [row["sentence"] for row in csv.DictReader(rows)] + ODD
    with opened(browser, file.as_uri()) as page:
        answers = page.evaluate(ASK, sentences)
        page.fill("#search", "throughput with a 64k window and 200 ms rtt")
        assert page.inner_text("#asked .value").startswith("2.621 Mbit/s")
        page.click("#asked button")
        assert page.inner_text("#answer").startswith("2.621 Mbit/s")
        page.fill("#search", "how many calls g711 over 2 Mbit/s")
        page.click("#asked button")
        # derived: 160 B of voice in 20 ms, with 78 B: 2e6 * 0.02 / 8 / 238 = 21.01
        assert page.inner_text("#answer").strip() == "21"
        page.fill("#search", LONG)
        assumed = page.locator("#asked li").filter(has_text="assumed: ").all_inner_texts()
        page.fill("#search", "10 mb over 10 mb")
        assert "ambiguous" in page.inner_text("#asked")
    assert sorted(assumed) == sorted(f"assumed: {text}" for text in readings(LONG)[0].assumed)
    computed = 0
    for sentence, answer in zip(sentences, answers, strict=True):
        expected = readings(sentence)
        if isinstance(expected, str):
            assert answer == expected, sentence
            continue
        assert [one[:2] for one in answer] == [[one.question, one.command] for one in expected]
        for (*_, value), reading in zip(answer, expected, strict=True):
            computed += value is not None
            assert value is None or value == pytest.approx(reading.value, rel=1e-9), sentence
    assert computed > 0.75 * len(sentences)
