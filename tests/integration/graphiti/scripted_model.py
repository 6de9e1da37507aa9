"""A model behind OpenAI's interface that reads one kind of sentence, and answers every prompt that Graphiti sends.

It knows `Ada works at Initech since 2024-01-01 until 2025-01-01.`, both dates optional; two facts that say the same of
the same thing contradict each other. So what Graphiti does with its answers is Graphiti's own doing.
"""

import asyncio
import json
import re
from typing import Any

SENTENCE = re.compile(
    r"(?P<subject>[A-Z]\w*(?: [A-Z]\w*)*) (?P<verb>works at|lives in|likes) (?P<object>[A-Z]\w*)"
    r"(?: since (?P<since>[\d-]{10}))?(?: until (?P<until>[\d-]{10}))?"
)
TIMES = re.compile(r" (?:since|until) [\d-]{10}")


class ScriptedModel:
    """The server; `asked` are the forms of the answers that it was asked for, `prompts` what it was told."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.prompts: list[str] = []
        self.status = 200
        self.answer: str | None = None
        self.url = ""
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(re.search(r"content-length: (\d+)", head, re.IGNORECASE)[1])
        body = json.loads(await reader.readexactly(length))
        prompt = "\n".join(one["content"] for one in body["messages"])
        form = body["response_format"]["json_schema"]["name"]
        self.asked.append(form)
        self.prompts.append(prompt)
        said = self.answer if self.answer is not None else json.dumps(answer(form, prompt))
        message = {"role": "assistant", "content": said}
        sent = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            }
        ).encode()
        line = f"HTTP/1.1 {self.status} x\r\ncontent-type: application/json\r\nconnection: close\r\n"
        writer.write(line.encode() + f"content-length: {len(sent)}\r\n\r\n".encode() + sent)
        await writer.drain()
        writer.close()


def answer(form: str, prompt: str) -> dict[str, Any]:
    """What the model says to a prompt, in the form asked for."""
    match form:
        case "ExtractedEntities":
            said = _section(prompt, "CURRENT MESSAGE") or _section(prompt, "TEXT") or _section(prompt, "JSON")
            names = [name for found in SENTENCE.finditer(said) for name in (found["subject"], found["object"])]
            return {"extracted_entities": [{"name": one, "entity_type_id": 0} for one in dict.fromkeys(names)]}
        case "NodeResolutions":
            return {"entity_resolutions": _resolutions(prompt)}
        case "ExtractedEdges":
            return {"edges": [_edge(found) for found in SENTENCE.finditer(_section(prompt, "CURRENT_MESSAGE"))]}
        case "EdgeDuplicate":
            return _compared(prompt)
        case "EdgeTimestamps":
            return {"valid_at": None, "invalid_at": None}
        case "SummarizedEntities":
            return {"summaries": []}
    raise AssertionError(form)


def _section(prompt: str, name: str) -> str:
    found = re.search(rf"<{name}>\n(.*?)\n\s*</{name}>", prompt, re.DOTALL)
    return found[1] if found else ""


def _edge(found: re.Match[str]) -> dict[str, Any]:
    return {
        "source_entity_name": found["subject"],
        "target_entity_name": found["object"],
        "relation_type": found["verb"].upper().replace(" ", "_"),
        "fact": TIMES.sub("", found[0]),
        "valid_at": found["since"] and f"{found['since']}T00:00:00Z",
        "invalid_at": found["until"] and f"{found['until']}T00:00:00Z",
    }


def _resolutions(prompt: str) -> list[dict[str, Any]]:
    known = {one["name"]: one["candidate_id"] for one in json.loads(_section(prompt, "EXISTING ENTITIES") or "[]")}
    entities = json.loads(_section(prompt, "ENTITIES"))
    return [
        {"id": one["id"], "name": one["name"], "duplicate_candidate_id": known.get(one["name"], -1)} for one in entities
    ]


def _compared(prompt: str) -> dict[str, list[int]]:
    new = SENTENCE.search(_section(prompt, "NEW FACT"))
    said = _section(prompt, "EXISTING FACTS") + _section(prompt, "FACT INVALIDATION CANDIDATES")
    duplicates, contradicted = [], []
    for index, fact in re.findall(r"""['"]idx['"]: (\d+), ['"]fact['"]: ['"](.*?)['"]\}""", said):
        old = SENTENCE.search(fact)
        if new and old and (old["subject"], old["verb"]) == (new["subject"], new["verb"]):
            same = old["object"] == new["object"]
            (duplicates if same else contradicted).append(int(index))
    return {"duplicate_facts": duplicates, "contradicted_facts": contradicted}
