"""Pages: their markup, and a browser that shows them."""
import re
from html.parser import HTMLParser
from pathlib import Path

from .behaviour import Behaviour

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None

DRIVER = Path("/usr/bin/chromedriver")
PHONE = {"width": 390, "height": 844}
WITHOUT_JAVASCRIPT = {"profile.managed_default_content_settings.javascript": 2}
VOID = {"meta", "br", "img", "link", "input", "hr"}
WITHIN_WORDS = {"time"}  # parts of a text


class Balance(HTMLParser):
    """Collects elements that are not closed in order, and the text that a reader sees."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.faults = []
        self.visible = []
        self.goes_on = False

    def handle_starttag(self, tag, attributes):
        self.goes_on = tag in WITHIN_WORDS
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        self.goes_on = tag in WITHIN_WORDS
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            if self.goes_on and self.visible:
                self.visible[-1] += data
            else:
                self.visible.append(data)


class WithPages(Behaviour):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browsers = {}  # by their options. To start one costs more than all that a test does with it

    def browser(self, width=1280, height=1000, javascript=True, dark=False):
        if webdriver is None or not DRIVER.exists():
            self.skipTest("no Chromium with Selenium (packages chromium, chromium-driver, python3-selenium)")
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--window-size={width},{height}", "--force-prefers-reduced-motion",
                     *(["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else [])):
            options.add_argument(word)
        if not javascript:
            options.add_experimental_option("prefs", WITHOUT_JAVASCRIPT)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        options.binary_location = "/usr/bin/chromium"
        browser = webdriver.Chrome(service=Service(str(DRIVER)), options=options)
        self.addClassCleanup(browser.quit)
        return browser

    def opened(self, page, **how):
        options = tuple(how.items())
        if options not in self.browsers:
            self.browsers[options] = self.browser(**how)
        browser = self.browsers[options]
        for log in ("browser", "performance"):
            browser.get_log(log)  # forgets what earlier pages logged
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})  # and on what they were shown
        if "width" in how:  # a headless window cannot be as narrow as a phone
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": how["width"], "height": how["height"], "deviceScaleFactor": 1,
                                     "mobile": True})
        browser.get(page.as_uri())
        return browser

    def check_markup(self, page):
        text = page.read_text(encoding="utf-8")
        balance = Balance()
        balance.feed(text)
        self.assertEqual((balance.open, balance.faults), ([], []))
        self.assertNotRegex(re.sub(r"https://github.com/leeoniya/uPlot", "", text), r"(src|href)=[\"']?https?:")
        return " ".join(balance.visible)

    def fetched_elsewhere(self, browser):
        """What the browser asked of any network."""
        fetched = [entry["message"] for entry in browser.get_log("performance")
                   if "Network.requestWillBeSent" in entry["message"]]
        return [message for message in fetched if "file://" not in message]
