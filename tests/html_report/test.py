"""The HTML report is one page with all sections, which a browser shows without errors and without the network. Its
timeline zooms. It is readable without JavaScript and on a phone."""
from pathlib import Path

import halcyon_test
from halcyon_test import EXAMPLES, MPI, PROGRAMS
from halcyon_test.pages import PHONE, WithPages

try:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    pass  # the browser's tests are skipped

SECTIONS = ["Where time was lost", "Segments along the run", "Who held the others up, and when",
            "How long segments take, together and by group", "How to reproduce"]
MOST_BYTES = 3_000_000  # of a page
NARROW, BROAD = {"width": 400, "height": 860}, {"width": 1280, "height": 1000}
LEAST_PIXELS = 11  # of a letter in a figure
MOST_TABS = 20  # until a button has the focus


class HtmlReport(WithPages):

    recorded = {}  # profiles by name. Each is recorded once, and every test has a copy of its own

    def recorded_as(self, name, program, *options):
        file = self.directory / name
        if name not in self.recorded:
            finished = self.halcyon("run", "-o", file, *options, "--", *MPI.launch(2), *program, INTM_SEED="1")
            self.assertEqual(finished.status, 0, finished)
            self.recorded[name] = file.read_bytes()
        file.write_bytes(self.recorded[name])
        return file

    def disturbed(self):
        return self.recorded_as("disturbed.h5", [EXAMPLES / "plate", 3000],
                                "--inject", "class=p2p,prob=0.02,mean=10ms,sd=2ms,ranks=1")

    def few_segments(self):
        """Of a program that sleeps: nothing tells whether a step of which there are few was disturbed."""
        return self.recorded_as("few.h5", [PROGRAMS / "steps", 10, 0, 5])

    def page_of(self, *profiles):
        page = self.directory / "report.html"
        finished = self.halcyon("report", *profiles, "--html", page)
        self.assertEqual(finished.status, 0, finished)
        return page

    def test_a_run_has_every_section_in_a_small_page_that_names_its_figures(self):
        profile = self.disturbed()
        page = self.page_of(profile)
        visible = self.check_markup(page)
        report = self.report(profile)
        for section in SECTIONS:
            self.assertIn(section, visible)
        self.assertIn(f"{report['interference_percent']:.1f} %", visible)
        self.assertIn(report["verdict"], visible)
        self.assertIn(report["command"], visible)
        self.assertLess(page.stat().st_size, MOST_BYTES)

    def test_run_writes_the_page_too(self):
        page = self.directory / "page.html"
        finished = self.halcyon("run", "-o", "run.h5", "--html", page, "--", *MPI.launch(2),
                                EXAMPLES / "plate", 300)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("How to reproduce", self.check_markup(page))

    def test_a_page_that_cannot_be_written_is_refused_before_the_run(self):
        finished = self.halcyon("run", "--html", "nowhere/page.html", "--", *MPI.launch(2),
                                EXAMPLES / "plate", 300)
        self.assertEqual((finished.status, finished.output), (2, ""))
        self.assertIn("nowhere", finished.errors)

    def test_a_profile_is_never_overwritten_by_a_page(self):
        profile = self.disturbed()
        finished = self.halcyon("report", profile, "--html", profile)
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("never overwritten", finished.errors)

    def test_what_a_program_is_called_cannot_become_markup(self):
        name = "<b onload=x>&amp;\".h5"
        self.disturbed().rename(self.directory / name)
        page = self.page_of(self.directory / name)
        self.assertNotIn("<b onload", page.read_text())
        self.assertIn(name, self.check_markup(page))

    def test_a_browser_shows_it_without_errors_and_without_the_network(self):
        browser = self.opened(self.page_of(self.disturbed()))
        self.assertEqual(browser.get_log("browser"), [])
        self.assertEqual(self.fetched_elsewhere(browser), [])
        self.assertTrue(browser.find_element(By.CSS_SELECTOR, ".plot canvas").is_displayed())
        self.assertFalse(browser.find_element(By.CSS_SELECTOR, ".static").is_displayed())

    def drawn(self, browser):
        """The timeline's pixels."""
        # It is drawn again when its place changes, for instance by a scroll bar, and is complete two frames later.
        browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        return browser.execute_script("return document.querySelector('.plot canvas').toDataURL()")

    def test_the_timeline_zooms_by_dragging_and_shows_the_whole_run_again(self):
        browser = self.opened(self.page_of(self.disturbed()))
        over = browser.find_element(By.CSS_SELECTOR, ".plot .u-over")
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
        ActionChains(browser).move_to_element_with_offset(over, 5, 5).perform()
        whole = self.drawn(browser)
        ActionChains(browser).move_to_element_with_offset(over, -150, 0).click_and_hold().move_by_offset(
            120, 0).release().perform()
        zoomed = self.drawn(browser)
        self.assertNotEqual(whole, zoomed)
        browser.find_element(By.CSS_SELECTOR, ".zoomable button[value=whole]").click()
        self.assertEqual(self.drawn(browser), whole)
        self.assertEqual(browser.get_log("browser"), [])

    def test_the_timeline_moves_and_zooms_by_keys_alone(self):
        browser = self.opened(self.page_of(self.disturbed()))
        seen = [self.drawn(browser)]

        def press(value):
            for _ in range(MOST_TABS):
                ActionChains(browser).send_keys(Keys.TAB).perform()
                if browser.switch_to.active_element.get_attribute("value") == value:
                    break
            outline = browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
            self.assertNotEqual(outline, "none", "the button with the focus is not marked")
            ActionChains(browser).send_keys(Keys.ENTER).perform()
            seen.append(self.drawn(browser))

        for value in ("closer", "later", "earlier", "wider"):
            press(value)
        whole, closer, later, earlier, wider = seen
        self.assertEqual(len({whole, closer, later}), 3)
        self.assertNotEqual(earlier, later)
        self.assertEqual(wider, whole)
        self.assertEqual(browser.get_log("browser"), [])

    def test_headings_are_in_order_and_figures_have_words_for_who_cannot_see_them(self):
        for page in (self.page_of(self.disturbed()), self.page_of(self.few_segments(), self.disturbed())):
            browser = self.opened(page)
            levels = [int(heading.tag_name[1]) for heading in browser.find_elements(By.CSS_SELECTOR, "h1, h2, h3, h4")]
            self.assertEqual(levels[0], 1)
            self.assertTrue(all(below <= above + 1 for above, below in zip(levels, levels[1:])), levels)
            figures = browser.find_elements(By.CSS_SELECTOR, "svg, .plot")
            self.assertTrue(figures)
            for figure in figures:
                self.assertEqual(figure.get_attribute("role"), "img")
                self.assertTrue(figure.get_attribute("aria-label"))

    def test_without_javascript_the_figure_stands_still_in_its_place(self):
        browser = self.opened(self.page_of(self.disturbed()), javascript=False)
        self.assertTrue(browser.find_element(By.CSS_SELECTOR, ".static svg").is_displayed())
        self.assertFalse(browser.find_element(By.CSS_SELECTOR, ".zoomable").is_displayed())

    def test_on_a_phone_nothing_is_wider_than_the_screen(self):
        browser = self.opened(self.page_of(self.disturbed()), **PHONE)
        self.assertEqual(browser.execute_script("return document.documentElement.scrollWidth"), PHONE["width"])

    def test_several_runs_stand_side_by_side_slowest_first_and_lead_to_their_own_figures(self):
        page = self.page_of(self.few_segments(), self.disturbed())
        visible = self.check_markup(page)
        self.assertIn("2 runs, slowest first", visible)
        browser = self.opened(page)
        names = [row.text.split()[1] for row in browser.find_elements(By.CSS_SELECTOR, ".runs tbody tr")]
        self.assertEqual([Path(name).name for name in names], ["disturbed.h5", "few.h5"])
        links = browser.find_elements(By.CSS_SELECTOR, ".runs a")
        self.assertEqual(len(links), len(names))
        for link in links:
            target = link.get_attribute("href").rpartition("#")[2]
            self.assertTrue(browser.find_element(By.ID, target))
        self.assertEqual(browser.get_log("browser"), [])

    def test_a_run_without_a_verdict_says_why_and_draws_what_there_is(self):
        page = self.page_of(self.few_segments())
        visible = self.check_markup(page)
        self.assertIn("unknown", visible)
        self.assertRegex(visible, r"low-coverage|too-few-segments|wide-interval|too-short")
        self.assertNotIn("Where time was lost", visible)
        self.assertNotIn("Likely cause", visible)
        self.assertEqual(self.opened(page).get_log("browser"), [])


class SeriesPages(WithPages):
    """Pages of repeat, search and map."""

    pages = {}  # text by name. Each series is made once

    def steps(self, count, milliseconds=2, other=0):
        return [PROGRAMS / "steps", milliseconds, other, count]

    def page(self, name):
        """The page of a series of short runs."""
        if name not in self.pages:
            others = [" ".join(map(str, [*MPI.launch(1), *self.steps(count)])) for count in (80, 60)]
            words = {"one program": ["repeat", "-r", 3, "--", *MPI.launch(1), *self.steps(60)],
                     "three programs": ["repeat", "-r", 3, "--versus", others[0], "--versus", others[1], "--",
                                        *MPI.launch(1), *self.steps(60)],
                     "work": ["repeat", "-r", 4, "--work", "N=40..90", "--", *MPI.launch(1), *self.steps("{N}")],
                     "search": ["search", "--vary", "N=20..80", "--limit", "time < 10 s", "--max-runs", 4, "--",
                                *MPI.launch(1), *self.steps("{N}")],
                     "map": ["map", "--vary", "N=20,40,60,80", "--vary", "M=1,2,3", "--runs", 1, "--", *MPI.launch(1),
                             *self.steps("{N}", milliseconds="{M}")]}[name]
            self.halcyon(words[0], "--html", "page.html", *words[1:])
            self.pages[name] = (self.directory / "page.html").read_text()
        path = self.directory / f"{name.replace(' ', '-')}.html"
        path.write_text(self.pages[name])
        return path

    def all_pages(self):
        for name in ("one program", "three programs", "work", "search", "map"):
            with self.subTest(name):
                yield self.page(name)

    def beyond_the_screen(self, browser, width):
        return browser.execute_script(
            "return [...document.body.querySelectorAll('*')]"
            ".filter(each => each.getBoundingClientRect().right > arguments[0] + 1)"
            ".map(each => each.outerHTML.slice(0, 300))", width)

    def visible_letters(self, browser):
        """Pixels of every text in a figure that is shown."""
        return browser.execute_script("""
            return [...document.querySelectorAll('svg text')].filter(text => text.getClientRects().length > 0)
                .map(text => parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a)""")

    def test_a_page_begins_with_its_answer_in_words(self):
        for page in self.all_pages():
            self.check_markup(page)
            browser = self.opened(page)
            first = browser.find_element(By.CSS_SELECTOR, "section > *")
            self.assertEqual(first.get_attribute("class").split()[:2], ["verdict", "answer"])
            self.assertGreater(len(first.find_element(By.CSS_SELECTOR, "p").text.split()), 3)
            self.assertEqual(browser.get_log("browser"), [])

    def test_on_a_narrow_screen_nothing_is_wider_than_it_and_letters_are_not_small(self):
        for page in self.all_pages():
            for size in (NARROW, BROAD):
                browser = self.opened(page, **size)
                self.assertEqual(browser.execute_script("return document.documentElement.scrollWidth"), size["width"],
                                 self.beyond_the_screen(browser, size["width"]))
                self.assertEqual(browser.execute_script(
                    "return [...document.querySelectorAll('*')].filter(each => each.scrollWidth > each.clientWidth + 1 "
                    "&& getComputedStyle(each).overflowX == 'auto').map(each => each.outerHTML)"), [])
                letters = self.visible_letters(browser)
                self.assertTrue(letters)
                self.assertGreaterEqual(min(letters), LEAST_PIXELS)

    def test_each_figure_is_shown_once_on_any_screen_and_on_paper(self):
        page = self.page("three programs")
        for size in (NARROW, BROAD):
            browser = self.opened(page, **size)
            for media in ("screen", "print"):
                browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
                for figure in browser.find_elements(By.CSS_SELECTOR, "figure"):
                    shown = [each for each in figure.find_elements(By.CSS_SELECTOR, "svg") if each.is_displayed()]
                    self.assertEqual(len(shown), 1)
                    self.assertEqual(shown[0].get_attribute("role"), "img")
                    self.assertTrue(shown[0].get_attribute("aria-label"))

    def test_programs_have_a_letter_and_a_colour_each_in_light_and_dark(self):
        page = self.page("three programs")
        for dark in (False, True):
            browser = self.opened(page, dark=dark)
            for letter in "ABC":
                self.assertIn(f"{letter}: ", browser.title)
            chips = browser.find_elements(By.CSS_SELECTOR, ".programs .chip")
            self.assertEqual([chip.text for chip in chips], ["A", "B", "C"])
            self.assertEqual(len({chip.value_of_css_property("background-color") for chip in chips}), 3)

    def test_a_table_without_room_becomes_a_list_that_repeats_its_titles(self):
        browser = self.opened(self.page("one program"), **NARROW)
        cell = browser.find_element(By.CSS_SELECTOR, ".list td[data-title='90 % interval']")
        self.assertIn("90 % interval", browser.execute_script(
            "return getComputedStyle(arguments[0], '::before').content", cell))
        self.assertFalse(browser.execute_script(
            "return [...document.querySelectorAll('.list tr')].some(row => row.offsetWidth > innerWidth)"))


if __name__ == "__main__":
    halcyon_test.main()
