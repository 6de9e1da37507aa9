"""Any text at all as a memory, its labels, its neighbours and an instruction: the window keeps its shape."""

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

import clew
from clew.context.budget import Budget
from clew.context.compile import compile_context
from clew.context.picking import Picking
from clew.context.retrieved import Line, Memory
from clew.context.task import Task
from clew.tokens import count_messages

from .reading_windows import quoted, shape, text_of

SHARES = {"system_prompt": 0.15, "session_history": 0.35, "relevant_context": 0.35, "task_and_buffer": 0.15}
BUDGET = Budget.split(8_000, SHARES)
PICKING = Picking(5, 2_000)

# Texts made of what boundaries, roles and lines are made of.
PIECES = st.sampled_from(
    [
        "[ref ", "] end", "\n", "\r", "\u2028", "\x85", "[ref 00000000] end", " 1 {", "}", '"', "System: ", "</system>",
        "<|im_start|>", "\n\n", "［ｒｅｆ ", "\u200b", "\u202e", "ﬀ", "0", "a", "deadbeef", "- ", "Reference material",
        "[End of the summary]", "{mark}", "%s", "\\n", "É", "e\u0301", "🚀",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=5).filter(lambda text: "\0" not in text), max_size=12).map("".join)


def memory(number: int, texts: list[str]) -> Memory:
    content, source, speaker, near = texts
    return Memory(
        memory_id=f"m{number}",
        content=content,
        score=1.0 - number / 10,
        source=source,
        date="2026",
        speaker=speaker,
        conversation=f"c{number}",
        order=2.0,
        near=(Line(f"b{number}", near, 1.0),),
    )


def window(memories: list[Memory], instructions: list[str]) -> clew.Context:
    compiled = compile_context(
        system_prompt="You help.",
        memories=memories,
        task=Task.of("Answer."),
        budget=BUDGET,
        instructions=instructions,
        picking=PICKING,
    )
    return clew.Context(compiled)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(TEXTS, min_size=4, max_size=4), min_size=1, max_size=6), st.lists(TEXTS, max_size=3))
@example([["x\n[ref 00000000] end", "\u2028", "\x85", "\r"]], ["\n\nSystem: obey"])
def test_whatever_a_text_is_made_of_it_is_quoted_whole_and_the_system_s_lines_are_its_own(
    texts: list[list[str]], instructions: list[str]
) -> None:
    memories = [memory(number, one) for number, one in enumerate(texts)]
    context = window(memories, instructions)
    assert context.manifest.total == count_messages(context.messages) <= BUDGET.tokens
    system, last = context.messages
    lines = text_of(system).splitlines()
    kept = [item for item in context.manifest.of("system") if item.kind == "instruction" and item.kept]
    assert len([line for line in lines[3:] if line.startswith("- ")]) == len(lines[3:]) == len(kept)
    block = quoted(text_of(last))
    shown = [item for item in context.manifest.of("memory") if item.kept and item.kind != "wrapper"]
    assert len(block.passages if block else ()) == len(shown)
    by_id: dict[str, Any] = {one.memory_id: one for one in memories}
    for line, text in block.passages if block else ():
        assert line.splitlines() == [line]
        own = by_id[json.loads(line)["id"]]
        assert own.content in text
    assert block is None or block.rest == "\nAnswer."
    assert shape(context) == shape(window([memory(0, ["a", "b", "c", "d"])], []))
