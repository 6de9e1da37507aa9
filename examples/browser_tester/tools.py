"""What the agent can do. Each tool says everything; the store and the tool node see to it that little is shown."""

import hashlib
from base64 import b64decode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import clew
from browser_tester.browser import Browser
from clew.artifacts.shapes import rendered
from clew.context.hierarchy import HierarchicalMemory
from clew.tokens import count


@dataclass
class Bench:
    """The agent's workbench: its page, its memory, and an account of what its tools returned."""

    engine: clew.Clew
    tenant_id: str
    browser: Browser
    past: HierarchicalMemory
    steps: list[str] = field(default_factory=list)
    full_tokens: int = 0
    screenshots: list[str] = field(default_factory=list)
    """The digests of what the browser took, in order."""
    bugs: list[dict[str, str]] = field(default_factory=list)
    recalled: list[str] = field(default_factory=list)
    """What is known to have worked before."""

    def tools(self) -> list[Callable[..., Awaitable[Any]]]:
        """The tools, as plain functions."""
        return [
            self.open_page, self.click, self.fill, self.expect_text, self.look_around, self.find_by_text,
            self.similar_failures, self.remember_fix, self.report_bug,
        ]  # fmt: skip

    async def open_page(self, url: str, step: int) -> dict[str, Any]:
        """Open a page, as the given step of the plan."""
        return await self._done(f"open {url}", self.browser.open(url), step)

    async def click(self, selector: str, step: int) -> dict[str, Any]:
        """Click the element that a selector names, as the given step of the plan."""
        return await self._done(f"click {selector}", self.browser.click(selector), step)

    async def fill(self, selector: str, value: str, step: int) -> dict[str, Any]:
        """Write a value into the field that a selector names, as the given step of the plan."""
        return await self._done(f"fill {selector}", self.browser.fill(selector, value), step)

    async def expect_text(self, selector: str, text: str, step: int) -> dict[str, Any]:
        """Check what an element shows, as the given step of the plan."""
        return await self._done(f"expect {selector}", self.browser.expect(selector, text), step)

    async def look_around(self) -> dict[str, Any]:
        """Everything on the page that has an id or can be clicked, with the page itself."""
        return await self._done("look around", self.browser.elements(), 0)

    async def find_by_text(self, text: str) -> str:
        """A selector for the button or link that says this."""
        self.steps.append(f"find by text “{text}”")
        selector = f'button:has-text("{text}")'.replace('"', "'")
        matches = await self.browser.page.locator(selector).count()
        return self._said(f"{matches} button says “{text}”: use {selector}" if matches else f"nothing says “{text}”")

    async def similar_failures(self, failure: str) -> str:
        """Failures of the past that are like this one, each with what worked."""
        self.steps.append("recall similar failures")
        found = await self.past.experiences(failure)
        self.recalled += [entry.metadata["fix"] for entry in found]
        return self._said("\n\n".join(entry.content for entry in found) or "Nothing like it has happened before.")

    async def remember_fix(self, failure: str, fix: str) -> str:
        """Remember what went wrong and what worked, for the next time."""
        self.steps.append(f"remember: {fix}")
        await self.past.add_experience(failure=failure, fix=fix)
        return self._said("Remembered.")

    async def report_bug(self, title: str, seen: str, expected: str, step: int) -> dict[str, Any]:
        """Report what is wrong with the application, found at the given step of the plan."""
        self.steps.append(f"report: {title}")
        bug = {"title": title, "seen": seen, "expected": expected}
        self.bugs.append(bug)
        self.full_tokens += count(rendered(bug))
        return {"plan_step": step, "passed": True, "bug": bug}

    async def _done(self, name: str, action: Awaitable[Any], step: int) -> dict[str, Any]:
        """Everything about a step: the screenshot, the HTML and the log go to the store, and references stay."""
        full = {"plan_step": step, **await self.browser.step(name, action)}
        self.steps.append(name if full["passed"] else f"{name}: {full['error']}")
        self.full_tokens += count(rendered(full))
        self.screenshots.append(hashlib.sha256(b64decode(full["screenshot"])).hexdigest())
        return await self.engine.artifacts.store_test_result(full, tenant_id=self.tenant_id)

    def _said(self, text: str) -> str:
        self.full_tokens += count(text)
        return text
