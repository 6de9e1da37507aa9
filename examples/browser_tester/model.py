"""A chat model that follows a script, so that the example runs offline. It knows nothing but what it is shown.

Whatever it decides, it decides from the messages it is given, as any model would: the plan with its ticks, the last
call, and the text of the last result. Put a real one in its place and the graph is the same.
"""

import re
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from browser_tester.plan import Step, next_step

MISSING = re.compile(r"no element matches ([^\s\"\\,;)]+)")
WRONG = re.compile(r"(\S+) shows (€[\d.]+), expected (€[\d.]+)")
FIX = re.compile(r"What worked: click (.+?)(?:\"|\\n|\n|$)")
SELECTOR = re.compile(r"use (.+?)(?:\"|\\n|\n|$)")

Call = tuple[str, dict[str, Any]]


class ScriptedTester(BaseChatModel):
    """Works through a plan; when an element is missing it asks what helped before, and only then searches."""

    bound: tuple[str, ...] = ()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> "ScriptedTester":
        """The same model, which now has these tools."""
        return ScriptedTester(bound=tuple(tool.name for tool in tools))

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        call = decide(messages)
        if call is None:
            answer = AIMessage("The test is done.")
        else:
            name, arguments = call
            if name not in self.bound:
                raise ValueError(f"the model has no tool {name}")
            answer = AIMessage("", tool_calls=[{"id": f"call_{uuid4().hex}", "name": name, "args": arguments}])
        return ChatResult(generations=[ChatGeneration(message=answer)])


def decide(messages: Sequence[BaseMessage]) -> Call | None:
    """The next call, or None when the plan is done."""
    upcoming = next_step(messages[0].text)
    last = messages[-1]
    if isinstance(last, ToolMessage) and (call := _reaction(messages, last, upcoming)):
        return call
    if upcoming is None:
        return None
    number, step = upcoming
    return step.tool, {**step.args, "step": number}


def _reaction(messages: Sequence[BaseMessage], last: ToolMessage, upcoming: tuple[int, Step] | None) -> Call | None:
    """What a result asks for; None when it is a reason to go on."""
    missing, wrong = MISSING.search(last.text), WRONG.search(last.text)
    number, step = upcoming or (0, Step("", "", {}))
    if last.name == "expect_text" and wrong:
        title = f"{step.about} is wrong: {wrong[1]}"
        return "report_bug", {"title": title, "seen": wrong[2], "expected": wrong[3], "step": number}
    if last.name == "click" and missing:
        if missing[1] == step.args.get("selector"):
            return "similar_failures", {"failure": _failure(step)}
        return "look_around", {}
    if last.name == "similar_failures":
        fix = FIX.search(last.text)
        guess = f"[id*={step.args['selector'].lstrip('#')[:5]}]"
        return "click", {"selector": fix[1].strip() if fix else guess, "step": number}
    if last.name == "look_around":
        return "find_by_text", {"text": step.about}
    if last.name == "find_by_text" and (found := SELECTOR.search(last.text)):
        return "click", {"selector": found[1].strip(), "step": number}
    if last.name == "click" and _called(messages, -3) == "find_by_text":
        # The step is ticked off by now; what it was is in the plan, on the line before the next one.
        failed = _before(messages[0].text, number)
        selector = messages[-2].tool_calls[0]["args"]["selector"] if isinstance(messages[-2], AIMessage) else ""
        return "remember_fix", {"failure": _failure(failed), "fix": f"click {selector}"}
    return None


def _failure(step: Step) -> str:
    return f"no element matches {step.args.get('selector')} for the step “{step.about}”"


def _called(messages: Sequence[BaseMessage], index: int) -> str | None:
    message = messages[index] if len(messages) >= -index else None
    return message.name if isinstance(message, ToolMessage) else None


def _before(system_prompt: str, number: int) -> Step:
    unticked = re.sub(rf"^{number - 1}\. \[x\]", f"{number - 1}. [ ]", system_prompt, flags=re.MULTILINE)
    found = next_step(unticked)
    return found[1] if found else Step("", "", {})
