"""A real browser, without a window. Without Chromium these tests are left out, and `make test` says so.

TREADLE_BROWSER=required makes that a failure; TREADLE_SCREENSHOTS=FOLDER keeps a picture of every page.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

# What keeps Chromium quiet and away from the network.
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)


class Browser:
    """A page in a window of a given size."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path, width: int = 1280, height: int = 800, dark: bool = False) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": theme})
        self.driver.get(page.as_uri())
        self.settle()

    def settle(self) -> None:
        """Until everything that the page does at its start is done: it starts nothing later by itself."""
        self.driver.execute_async_script("setTimeout(arguments[0])")

    def run(self, script: str) -> object:
        return self.driver.execute_script(script)

    def texts(self, selector: str) -> list[str]:
        return [str(text) for text in self.driver.execute_script(_TEXTS, selector)]

    def press(self, selector: str, key: str) -> None:
        self.driver.execute_script(_PRESS, selector, key)
        self.settle()

    def click(self, selector: str) -> None:
        self.driver.execute_script("document.querySelector(arguments[0]).dispatchEvent(new Event('click'))", selector)
        self.settle()

    def errors(self) -> list[str]:
        return [str(entry["message"]) for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]

    def shoot(self, name: str) -> None:
        folder = os.environ.get("TREADLE_SCREENSHOTS")
        if folder:
            self.driver.save_screenshot(str(Path(folder) / f"{name}.png"))


_TEXTS = "return [...document.querySelectorAll(arguments[0])].map(one => one.textContent)"
_PRESS = """
const place = document.querySelector(arguments[0]);
place.focus();
place.dispatchEvent(new KeyboardEvent("keydown", { key: arguments[1], bubbles: true, cancelable: true }));
"""


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None or DRIVER is None:
        why = "neither Chromium nor chromedriver may be missing: what the pages look like was not tried"
        if os.environ.get("TREADLE_BROWSER") == "required":
            pytest.fail(why)
        pytest.skip(why)
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield Browser(driver)
    driver.quit()
