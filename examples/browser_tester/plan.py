"""The test to run, and how its progress is told to a model."""

import json
import re
from dataclasses import dataclass
from typing import Any

TEST = "checkout"
# Two kettles and a mug, and shipping once: 2 × 39.90 + 12.50 + 4.90.
EXPECTED_TOTAL = "€97.20"


@dataclass(frozen=True)
class Step:
    """One line of the plan: what it is about, and the tool call that does it."""

    about: str
    tool: str
    args: dict[str, Any]


def checkout(url: str) -> list[Step]:
    """Buy two kettles and a mug."""
    return [
        Step("Shop", "open_page", {"url": url}),
        Step("Add to basket", "click", {"selector": "#add-kettle"}),
        Step("Quantity", "fill", {"selector": "#qty-kettle", "value": "2"}),
        Step("Add to basket", "click", {"selector": "#add-mug"}),
        Step("Check out", "click", {"selector": "#checkout"}),
        Step("Email", "fill", {"selector": "#email", "value": "ana@example.com"}),
        Step("Pay", "click", {"selector": "#pay"}),
        Step("Total", "expect_text", {"selector": "#total", "text": EXPECTED_TOTAL}),
    ]


def told(plan: list[Step], done: int) -> str:
    """The plan as a model reads it, with what is done ticked off."""
    lines = [
        f"{number}. [{'x' if number <= done else ' '}] {step.about}: {step.tool} {json.dumps(step.args)}"
        for number, step in enumerate(plan, 1)
    ]
    return "You test a shop, one tool call at a time. When a step fails, find out why and mend it.\n" + "\n".join(lines)


def next_step(system_prompt: str) -> tuple[int, Step] | None:
    """The first line that is not ticked off; None when all are."""
    found = re.search(r"^(\d+)\. \[ \] (.+?): (\w+) (\{.*\})$", system_prompt, re.MULTILINE)
    return (int(found[1]), Step(found[2], found[3], json.loads(found[4]))) if found else None
