"""A page of a real Chromium, and what a step on it leaves behind: the outcome, a screenshot, the HTML, the console."""

import base64
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Error, Page, async_playwright

from clew import Misconfigured

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
INSTALL = "Install Chromium; on Debian and Ubuntu: sudo apt-get install chromium"
PATIENCE_MS = 1_000
ELEMENTS = """() => [...document.querySelectorAll('button, input, a, [id]')].map(e => ({
    selector: e.id ? '#' + e.id : e.tagName.toLowerCase(), tag: e.tagName.toLowerCase(),
    text: (e.innerText || '').trim().slice(0, 60), visible: e.offsetParent !== null }))"""


def installed() -> str:
    """The Chromium of this machine. Nothing is ever downloaded."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        raise Misconfigured("there is no Chromium on this machine", fix=INSTALL)
    return found


@dataclass
class Browser:
    """One page, and every message of its console."""

    page: Page
    console: list[str] = field(default_factory=list)

    async def step(self, name: str, action: Any) -> dict[str, Any]:
        """Do something, and say all there is to say about it: what a testing tool returns, and what fills a window."""
        started = time.monotonic()
        outcome: dict[str, Any] = {"step": name, "passed": True}
        try:
            outcome["seen"] = await action
        except (Error, AssertionError) as error:
            outcome |= {"passed": False, "error": _sentence(error)}
        picture = await self.page.screenshot()
        return outcome | {
            "duration_ms": round((time.monotonic() - started) * 1000),
            "url": self.page.url,
            "screenshot": base64.b64encode(picture).decode(),
            "html": await self.page.content(),
            "console": list(self.console),
        }

    async def open(self, url: str) -> str:
        await self.page.goto(url)
        return await self.page.title()

    async def click(self, selector: str) -> str:
        await self._there(selector)
        await self.page.click(selector, timeout=PATIENCE_MS)
        return f"clicked {selector}"

    async def fill(self, selector: str, value: str) -> str:
        await self._there(selector)
        await self.page.fill(selector, value, timeout=PATIENCE_MS)
        await self.page.dispatch_event(selector, "change")
        return f"{selector} is now {value}"

    async def expect(self, selector: str, text: str) -> str:
        await self._there(selector)
        seen = (await self.page.inner_text(selector)).strip()
        if seen != text:
            raise AssertionError(f"{selector} shows {seen}, expected {text}")
        return seen

    async def elements(self) -> list[dict[str, Any]]:
        """Everything on the page that has an id or can be clicked."""
        found: list[dict[str, Any]] = await self.page.evaluate(ELEMENTS)
        return found

    async def _there(self, selector: str) -> None:
        if not await self.page.locator(selector).count():
            raise AssertionError(f"no element matches {selector}")


@asynccontextmanager
async def opened(executable: str) -> AsyncIterator[Browser]:
    """A new page in a new Chromium, closed at the end whatever happens."""
    async with async_playwright() as playwright:
        try:
            chromium = await playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        except Error as error:
            raise Misconfigured(f"{executable} did not start: {_sentence(error)}", fix=INSTALL) from error
        try:
            browser = Browser(await chromium.new_page(viewport={"width": 1024, "height": 640}))
            browser.page.on("console", lambda message: browser.console.append(message.text))
            yield browser
        finally:
            await chromium.close()


def _sentence(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200]
