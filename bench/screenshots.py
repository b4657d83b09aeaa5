#!/usr/bin/env python3
"""Writes docs/report-{green,yellow,red}.png, -phone.png and report-top.png: HTML reports of real programs, quiet and
disturbed. With --series it writes docs/{search,map}-page.png in their place: the pages of `search` and `map` for the
stencil of examples/.

If a run does not get the wanted light, since the machine has its own disturbances, it is repeated with more or less
injected. The command of each attempt is printed. Needs LAMMPS, and Debian's chromium, chromium-driver, python3-selenium
and python3-pil: run it with /usr/bin/python3.
"""
import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import programs

HALCYON = programs.BUILD / "bin" / "halcyon"
TRIES = 8

# The light, the program, and the first probability of a delay of 50 ms in a call.
PICTURES = [("green", "melt", 0.0), ("yellow", "shear", 0.00006), ("red", "crack", 0.0003)]
TOP = 1240  # pixels of the last picture that show the verdict and where the time went
WIDTHS = {"": 1280, "-phone": 390}

# One rank, so that the runs are of use on a machine with little to spare.
STENCIL = ["--", "mpirun", "-np", "1", "./stencil"]
SERIES = {
    "search": ["--vary", "N=1000..40000", "--limit", "time < 4 s", "--accuracy", "75%", *STENCIL, "{N}", "64"],
    "map": ["--runs", "1", "--vary", "sweeps=500,1000,2000,4000", "--vary", "side=24,32,48,64", *STENCIL, "{sweeps}",
            "{side}"],
}


def program_named(name):
    return next(program for program in programs.PROGRAMS if program.name == name)


def recorded(light, name, probability, scratch):
    """Repeats the run until it has the wanted light, and returns the page."""
    program = program_named(name)
    for attempt in range(1, TRIES + 1):
        programs.prepare(program, scratch)
        inject = ["--inject", f"class=all,prob={probability:.3g},mean=50ms,sd=5ms"] if probability > 0 else []
        command = [str(HALCYON), "run", "-o", f"{name}.h5", *inject, "--html", f"{name}.html", "--", "mpirun", "-np",
                   str(programs.RANKS), *program.command]
        subprocess.run(command, cwd=scratch, check=True, env={**programs.environment(), "INTM_SEED": str(attempt)},
                       capture_output=True)
        report = json.loads(subprocess.run([HALCYON, "report", "--json", "-", f"{name}.h5"], cwd=scratch, check=True,
                                           capture_output=True, text=True).stdout)
        print(f"{light}: {report['verdict']} {report['interference_percent']:.1f} %, INTM_SEED={attempt} "
              f"{' '.join(command[1:])}", flush=True)
        if report["verdict"] == light:
            return scratch / f"{name}.html"
        order = ["green", "yellow", "red"]
        if report["verdict"] in order and probability > 0:
            probability *= 1.4 if order.index(report["verdict"]) < order.index(light) else 0.7
    sys.exit(f"no {light} run in {TRIES} tries: is the machine busy?")


def photographed(page, picture, width):
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    options.binary_location = "/usr/bin/chromium"
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        # Lower than any page, as the picture is as high as the page.
        size = {"width": width, "height": 300, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(page.as_uri())
        size["height"] = browser.execute_script("return document.documentElement.scrollHeight")
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        # The timeline is drawn again when its place changes, and is complete two frames later.
        browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        # 256 colours make the file three times smaller without a visible difference.
        Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB").quantize(256, Image.Quantize.MEDIANCUT).save(picture, optimize=True)
        complaints = browser.get_log("browser")
        if complaints:
            sys.exit(f"the browser complains of {page}: {complaints}")
    finally:
        browser.quit()


def series_page(name, scratch):
    shutil.copy(programs.BUILD / "examples" / "stencil", scratch)
    subprocess.run([str(HALCYON), name, "--html", f"{name}.html", "-o", name, *SERIES[name]], cwd=scratch, check=True,
                   env=programs.environment())
    return scratch / f"{name}.html"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=programs.SOURCE / "docs", help="directory of the pictures")
    parser.add_argument("--series", action="store_true", help="the pages of search and map")
    arguments = parser.parse_args()
    output = arguments.output
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as scratch:
        if arguments.series:
            for name in SERIES:
                photographed(series_page(name, Path(scratch)), output / f"{name}-page.png", 1280)
            return
        for light, name, probability in PICTURES:
            page = recorded(light, name, probability, Path(scratch) / name)
            for suffix, width in WIDTHS.items():
                photographed(page, output / f"report-{light}{suffix}.png", width)
        with Image.open(output / f"report-{light}.png") as picture:
            picture.crop((0, 0, picture.width, TOP)).save(output / "report-top.png", optimize=True)


if __name__ == "__main__":
    main()
