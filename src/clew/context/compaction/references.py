"""The artifacts that messages name: what a summary passes on so that a model can still read them."""

from collections.abc import Iterable, Sequence
from typing import Final

from clew.context.compaction.summary import Line, Summary
from clew.context.compaction.view import Entry
from clew.ids import ARTIFACT_ID

# The newest are kept, about 13 tokens each; older ones are found by list_artifacts and in the messages that name them.
REFERENCES_MAX: Final = 60


def references_in(previous: Summary | None, replaced: Sequence[Entry]) -> tuple[Line, ...]:
    """The artifacts that the previous summary and the replaced messages name, each once, where it was named last."""
    found: dict[str, Line] = {}
    for line in previous.references if previous else ():
        found[_named(line.text)] = line
    tools: dict[str, str] = {}
    for entry in replaced:
        tools |= {call.id: call.name for call in entry.message.tool_calls}
        tool = next((tools.get(result.call_id) or result.name for result in entry.message.tool_results), None)
        for artifact in _ids(entry):
            found.pop(artifact, None)
            found[artifact] = Line(f"{artifact} from {tool}" if tool else artifact, (entry.position,))
    return tuple(found.values())[-REFERENCES_MAX:]


def _named(text: str) -> str:
    match = ARTIFACT_ID.search(text)
    return match[0] if match else text


def _ids(entry: Entry) -> Iterable[str]:
    arguments = " ".join(call.arguments_text for call in entry.message.tool_calls)
    return dict.fromkeys(ARTIFACT_ID.findall(f"{entry.message.text} {arguments}"))
