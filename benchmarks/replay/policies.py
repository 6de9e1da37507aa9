"""What is sent of a long conversation: by Clew, and by others, each driven through its own code.

Each policy is handed what is new and answers with what it would send. Clew's is the shipped rooms on a real database:
tool results through `isolate_tool`, messages into the log, `Compactor.compact`, and what the view shows.

LangChain's middlewares run as `create_agent` runs them: `before_model` over the state with LangGraph's own reducer,
`wrap_model_call` around a request; the system prompt is kept apart from the messages, and tokens are counted by Clew's
exact counter instead of their estimate. The model that `SummarizationMiddleware` asks is scripted: it answers with what
Clew's offline summariser writes about the very messages it was asked about, as long as ours would be, so that a
comparison is one of policies and not of writers.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware, SummarizationMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, trim_messages
from langchain_core.messages.utils import convert_to_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime

import clew
from clew.artifacts import read_back_tools
from clew.context.compaction import Entry, Policy, Summary, propose, shown, summarise, summary_limit
from clew.context.compactor import Compactor
from clew.context.recall import recall_tool
from clew.ids import new_id
from clew.messages import from_openai, to_openai
from clew.settings import Settings
from clew.tokens import count_message, count_priming, count_tools
from replay.traces import Message, Run, Step, tokens_of

REFERENCE = re.compile(r"art_[a-z2-7]{16}")
SUMMARISED = re.compile(r"Summary of messages (\d+)-(\d+)")
# How LangChain's middleware introduces what it was answered.
SUMMARY_BEFORE = "Here is a summary of the conversation to date:\n\n"
RECALLED = re.compile(r'recall_messages\(positions="(\d+)"\)')

Writer = Callable[[list[Message]], str]


@dataclass(frozen=True)
class Asked:
    """A summary that a model was asked for: the request's messages, and what it wrote."""

    prompt: list[Message]
    written: str
    continues: bool = False
    """The prompt begins with the last request, so a provider has it in its cache."""


@dataclass
class Sent:
    """One request: its messages, the tokens of tool schemas that the policy itself adds, summaries asked for first."""

    messages: list[Message]
    own_tools_tokens: int = 0
    asked: list[Asked] = field(default_factory=list)
    earlier: list["Sent"] = field(default_factory=list)
    """Requests that came before this one and would not have without the policy."""

    @property
    def tokens(self) -> int:
        return tokens_of(self.messages) + self.own_tools_tokens


class Way(Protocol):
    """A way to decide what a model is sent of a conversation. One object follows one run."""

    async def sent(self, arrived: list[Message]) -> Sent:
        """What is sent once these messages have arrived."""

    async def reachable(self) -> str:
        """Every text that a call the model has would bring back, by a reference it has been shown."""

    async def refusals(self) -> int:
        """How often the policy made a summary and did not use it."""


class Everything:
    """No policy: the whole conversation, every time."""

    def __init__(self, run: Run) -> None:
        self._messages = [run.system]

    async def sent(self, arrived: list[Message]) -> Sent:
        self._messages += arrived
        return Sent(list(self._messages))

    async def reachable(self) -> str:
        return ""

    async def refusals(self) -> int:
        return 0


class LangChain:
    """Messages as LangChain's, and back word for word: what a policy left alone is sent as it was."""

    def __init__(self, run: Run) -> None:
        self.system = run.system
        self.state: list[BaseMessage] = []
        self._originals: dict[str, Message] = {}

    async def sent(self, arrived: list[Message]) -> Sent:
        self.state = merged(self.state, self._taken(arrived))
        asked: list[Asked] = []
        return Sent([self.system, *self.back(self.shown(asked))], asked=asked)

    async def reachable(self) -> str:
        return ""

    async def refusals(self) -> int:
        return 0

    def shown(self, asked: list[Asked]) -> Sequence[BaseMessage]:
        raise NotImplementedError

    def _taken(self, arrived: list[Message]) -> list[BaseMessage]:
        messages = convert_to_messages(arrived)
        for message, original in zip(messages, arrived, strict=True):
            message.id = f"m{len(self._originals)}"
            self._originals[message.id] = original
        return messages

    def back(self, messages: Iterable[BaseMessage]) -> list[Message]:
        return [self._original(message) for message in messages]

    def _original(self, message: BaseMessage) -> Message:
        original = self._originals.get(message.id or "")
        if original is None:
            role = {"human": "user", "ai": "assistant"}.get(message.type, message.type)
            return {"role": role, "content": message.text}
        same = message.text == (original["content"] or "")
        return original if same else {**original, "content": message.text}

    def counted(self, messages: Iterable[Any]) -> int:
        return tokens_of(self.back(messages)) - count_priming()


def merged(state: list[BaseMessage], new: list[BaseMessage]) -> list[BaseMessage]:
    result = add_messages(list(state), list(new))  # type: ignore[arg-type]
    return list(result)  # type: ignore[arg-type]


class Trimmed(LangChain):
    """`langchain_core.messages.trim_messages`, plain or as its documentation has it, at every request."""

    def __init__(self, run: Run, max_tokens: int, **options: Any) -> None:
        super().__init__(run)
        self._max_tokens = max_tokens - tokens_of([run.system])
        self._options = options

    def shown(self, asked: list[Asked]) -> Sequence[BaseMessage]:
        return trim_messages(
            self.state, max_tokens=self._max_tokens, strategy="last", token_counter=self.counted, **self._options
        )


class Cleared(LangChain):
    """`ContextEditingMiddleware` with `ClearToolUsesEdit`: the edit is made anew for every request."""

    def __init__(self, run: Run, **edit: Any) -> None:
        super().__init__(run)
        self._middleware: ContextEditingMiddleware[Any, Any] = ContextEditingMiddleware(
            edits=[ClearToolUsesEdit(**edit)], token_counter=self._with_system
        )

    def _with_system(self, messages: Iterable[Any]) -> int:
        return self.counted(messages) + tokens_of([self.system])

    def shown(self, asked: list[Asked]) -> Sequence[BaseMessage]:
        seen: list[BaseMessage] = []

        def handler(request: ModelRequest[Any]) -> ModelResponse[Any]:
            seen.extend(request.messages)
            return ModelResponse(result=[AIMessage("")])

        request: ModelRequest[Any] = ModelRequest(model=Scripted(), messages=list(self.state))  # type: ignore[arg-type]
        self._middleware.wrap_model_call(request, handler)
        return seen


class Summarised(LangChain):
    """`SummarizationMiddleware`: what it returns replaces the state, as the agent's reducer would."""

    def __init__(self, run: Run, write: Writer, **options: Any) -> None:
        super().__init__(run)
        self._model = Scripted()
        self._middleware = Reading(self._model, token_counter=self.counted, **options)
        self._middleware.reading = lambda messages: setattr(self._model, "answer", write(self.back(messages)))

    def shown(self, asked: list[Asked]) -> Sequence[BaseMessage]:
        before = len(self._model.asked)
        update = self._middleware.before_model({"messages": list(self.state)}, Runtime())  # type: ignore[arg-type]
        if update:
            self.state = merged(self.state, update["messages"])
        asked += self._model.asked[before:]
        return self.state


class Reading(SummarizationMiddleware[Any, Any]):
    """The middleware itself, which also says which messages it puts into the prompt."""

    reading: Callable[[Sequence[BaseMessage]], None]

    def _format_summary_prompt(self, messages: list[Any]) -> str:
        self.reading(messages)
        return super()._format_summary_prompt(messages)


class Scripted(BaseChatModel):
    """A chat model that answers what it was told to, and remembers what it was asked."""

    answer: str = ""
    asked: list[Any] = []  # noqa: RUF012 - pydantic copies it for every model

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        prompt = [{"role": "user" if isinstance(m, HumanMessage) else "system", "content": m.text} for m in messages]
        self.asked.append(Asked(prompt, self.answer))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.answer))])


class Rooms:
    """The engine on a server of its own, and what the policies of ours need of it."""

    def __init__(self, folder: Path) -> None:
        self.engine = clew.open(settings=Settings(data_dir=folder))
        self._shown: dict[tuple[str, str, str], str] = {}
        self._tools_tokens = 0

    async def __aenter__(self) -> "Rooms":
        await self.engine.__aenter__()
        recall = recall_tool(self.engine.compactor, tenant_id="any", thread_id="any")
        functions = [*read_back_tools(self.engine.artifacts), recall]
        self._tools_tokens = count_tools([convert_to_openai_tool(function) for function in functions])
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.engine.__aexit__(*error)

    @property
    def tools_tokens(self) -> int:
        """What the schemas of the tools cost that follow our references."""
        return self._tools_tokens

    async def isolate(self, message: Message, tool: str, thread_id: str, tenant_id: str) -> Message:
        """The tool message as the loop of an agent gets it whose tools are isolated."""

        async def returned() -> Any:
            return message["content"]

        wrapped = clew.isolate_tool(returned, self.engine.tool_results, name=tool, tenant_id=tenant_id)
        with clew.tool_call(tool_call_id=message["tool_call_id"], thread_id=thread_id):
            return {**message, "content": await wrapped()}

    async def isolate_once(self, message: Message, tool: str, thread_id: str, tenant_id: str) -> Message:
        """The same, without storing a result again that another policy's replay has stored already."""
        key = (tenant_id, tool, message["content"])
        if key not in self._shown:
            self._shown[key] = (await self.isolate(message, tool, thread_id, tenant_id))["content"]
        return {**message, "content": self._shown[key]}

    async def read_artifact(self, artifact_id: str, tenant_id: str) -> str:
        """What the model gets that calls `read_artifact`."""
        tools = {tool.__name__: tool for tool in read_back_tools(self.engine.artifacts, tenant_id=tenant_id)}
        return str(await tools["read_artifact"](artifact_id))


class Ours:
    """Clew as shipped: isolation, then compaction; or one of the two."""

    def __init__(self, run: Run, rooms: Rooms, *, isolates: bool = True, compacts: bool = True) -> None:
        self.run, self.rooms, self.compactor = run, rooms, rooms.engine.compactor
        self._compacts = compacts
        self._isolate = rooms.isolate_once if isolates else None
        self.tenant_id = re.sub(r"\W+", "-", f"{run.family} {run.name}")
        self.thread_id = new_id()
        self.results: list[tuple[Message, Message]] = []
        """Each tool message as it came, and as it was kept."""
        self._tools: dict[str, str] = {}
        self._window: list[Message] = []

    async def sent(self, arrived: list[Message]) -> Sent:
        kept = [await self._kept(message) for message in arrived]
        await self.rooms.engine.sessions.append(self.thread_id, kept, tenant_id=self.tenant_id)
        if self._compacts:
            await self.compactor.compact(self.thread_id, tenant_id=self.tenant_id)
        current = await self.compactor.current(self.thread_id, tenant_id=self.tenant_id)
        assert current is not None
        seen = [one.message for one in shown(current.view, await self.compactor.entries(current), references=True)]
        self._window = [self.run.system, *to_openai(seen)]
        self._remember(frozenset(message.id or "" for message in seen))
        return Sent(self._window, self.rooms.tools_tokens)

    def _remember(self, message_ids: frozenset[str]) -> None:
        """Only of use to a model that writes summaries."""

    async def _kept(self, message: Message) -> Message:
        for call in message.get("tool_calls") or ():
            self._tools[call["id"]] = call["function"]["name"]
        if message["role"] != "tool" or self._isolate is None:
            return message
        tool = self._tools[message["tool_call_id"]]
        kept = await self._isolate(message, tool, self.thread_id, self.tenant_id) if message["content"] else message
        self.results.append((message, kept))
        return kept

    async def reachable(self) -> str:
        window = text_of(self._window[1:])
        positions = {position for one in SUMMARISED.findall(window) for position in range(int(one[0]), int(one[1]) + 1)}
        positions |= {int(one) for one in RECALLED.findall(window)}
        texts = []
        if positions:
            found = await self.compactor.recall_messages(
                self.thread_id, positions=sorted(positions), tenant_id=self.tenant_id
            )
            texts = [text_of(to_openai([row.message for row in found]))]
        for artifact_id in sorted(set(REFERENCE.findall(window))):
            texts.append((await self.rooms.engine.artifacts.get(artifact_id, tenant_id=self.tenant_id)).text)
        return "\n".join(texts)

    async def refusals(self) -> int:
        return len(await self.compactor.refusals(self.thread_id, 1_000, tenant_id=self.tenant_id))


class Storing(Ours):
    """The same, and every result is stored even when another run had the very same one."""

    def __init__(self, run: Run, rooms: Rooms) -> None:
        super().__init__(run, rooms)
        self._isolate = rooms.isolate


class Written(Ours):
    """Clew with a model that writes the summaries: what it is asked continues the last request."""

    def __init__(self, run: Run, rooms: Rooms, **options: Any) -> None:
        super().__init__(run, rooms, **options)
        self.compactor = Compactor(rooms.engine.database, write_summary=self._write)
        self._asked: list[Asked] = []

    async def sent(self, arrived: list[Message]) -> Sent:
        self._asked = []
        sent = await super().sent(arrived)
        return replace(sent, asked=self._asked)

    def _remember(self, message_ids: frozenset[str]) -> None:
        self.compactor.remember_request(self.tenant_id, self.thread_id, self._window, message_ids)

    async def _write(self, prompt: list[Message]) -> str:
        """What the offline summariser would have written, as a model's words."""
        current = await self.compactor.current(self.thread_id, tenant_id=self.tenant_id)
        assert current is not None
        proposal = propose(current.view, await self.compactor.entries(current), self.compactor.policy)
        assert proposal is not None
        most = summary_limit(proposal.view.summary, proposal.replaced, self.compactor.policy)
        text = summarise(proposal.view.summary, proposal.replaced, max_tokens=most).text(references=False)
        self._asked.append(Asked(prompt, text, continues=True))
        return text


class ReadingBack(Ours):
    """Clew, with a model that reads one in so many isolated results in full, which takes a call and a request more."""

    def __init__(self, run: Run, rooms: Rooms, one_in: int) -> None:
        super().__init__(run, rooms)
        self._one_in, self._isolated = one_in, 0

    async def sent(self, arrived: list[Message]) -> Sent:
        sent = await super().sent(arrived)
        if not self.results or self.results[-1][0] is not arrived[-1] or self.results[-1][1] is arrived[-1]:
            return sent
        self._isolated += 1
        if self._isolated % self._one_in:
            return sent
        (artifact_id,) = REFERENCE.findall(self.results[-1][1]["content"])[-1:]
        full = await self.rooms.read_artifact(artifact_id, self.tenant_id)
        step = Step(None, "read_artifact", json.dumps({"artifact_id": artifact_id}), full)
        isolate, self._isolate = self._isolate, None
        again = await super().sent(step.messages(f"call_back_{self._isolated}"))
        self._isolate = isolate
        return replace(again, earlier=[sent])


def offline(messages: list[Message]) -> str:
    """What Clew's offline summariser writes about messages, whoever asks; a summary among them is extended, as ours."""
    earlier, rest = None, messages
    if messages and str(messages[0]["content"]).startswith(SUMMARY_BEFORE):
        earlier, rest = (
            Summary.written(messages[0]["content"].removeprefix(SUMMARY_BEFORE), covers=(1, 1)),
            messages[1:],
        )
    entries = [Entry(place, m, count_message(m)) for place, m in enumerate(from_openai(rest), start=2)]
    most = summary_limit(earlier, entries, Policy())
    return summarise(earlier, entries, max_tokens=most).text(references=False)


def text_of(messages: Sequence[Message]) -> str:
    """Every word of the messages, the arguments of calls too, without JSON's escapes."""
    lines = []
    for message in messages:
        lines.append(message["content"] or "")
        for call in message.get("tool_calls") or ():
            lines += [call["function"]["name"], *words_in(json.loads(call["function"]["arguments"]))]
    return "\n".join(lines)


def words_in(value: Any) -> list[str]:
    """Every text and number in a JSON value."""
    if isinstance(value, dict):
        value = [*value.values()]
    return [word for one in value for word in words_in(one)] if isinstance(value, list) else [str(value)]
