"""What goes wrong is one of our errors, told before it is too late and without a secret."""

from typing import Any

import pytest

from clew.errors import ClewError, InvalidInput, Unavailable
from clew.memory.graphiti import GraphitiKnowledgeBase, connecting
from clew.memory.graphiti.connecting import read_address

from .conftest import Tell, day
from .scripted_model import ScriptedModel

SECRET = "s3cr3t%2Fpass"
PLAIN = "s3cr3t/pass"


def _silent(error: BaseException) -> bool:
    return SECRET not in str(error) and PLAIN not in str(error) and "s3cr3t" not in repr(error)


@pytest.mark.parametrize("url", ["http://a", "bolt://", "falkor://:1", "", "falkor://h:port", "redis://h/3", 7, None])
def test_a_url_that_names_no_graph_database_is_refused(url: Any):
    with pytest.raises(InvalidInput, match="url"):
        GraphitiKnowledgeBase(url, object())


@pytest.mark.parametrize("url", [f"http://u:{SECRET}@h", f"falkor://u:{SECRET}@h:x", f"redis://u:{SECRET}@h/9"])
def test_a_refused_url_is_not_shown(url: str):
    with pytest.raises(InvalidInput) as caught:
        read_address(url)
    assert _silent(caught.value)
    assert caught.value.__cause__ is None


def test_an_address_has_its_parts_and_hides_its_password():
    address = read_address(f"neo4j+s://ne%20o:{SECRET}@[::1]:7000/films?policy=eu")
    assert (address.host, address.port, address.path, address.user) == ("::1", 7000, "films", "ne o")
    assert address.password == PLAIN
    assert "s3cr3t" not in repr(address)
    assert read_address("unix:///run/falkor.sock?password=x").password == "x"
    assert [read_address(f"{one}://h").falkordb for one in ("falkor", "redis", "bolt", "neo4j")] == [
        True,
        True,
        False,
        False,
    ]


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connecting.importlib.util, "find_spec", lambda name: None)
    for url in ("falkor://h", "bolt://h"):
        with pytest.raises(InvalidInput, match=r"pip install 'clew\[graphiti\]'"):
            GraphitiKnowledgeBase(url, object())


@pytest.mark.parametrize("scheme", ["falkor", "bolt"])
async def test_a_server_that_is_not_there_is_unavailable(llm_client: Any, scheme: str):
    url = f"{scheme}://user:{SECRET}@127.0.0.1:1"
    knowledge = GraphitiKnowledgeBase(url, llm_client)
    for ask in (knowledge.setup, lambda: knowledge.search("Ada"), lambda: knowledge.add_episode("a", "b")):
        with pytest.raises(Unavailable) as caught:
            await ask()
        assert _silent(caught.value)
        assert not caught.value.outcome_unknown
    await knowledge.close()


async def test_a_refused_password_is_the_callers_to_mend(graph_url: str, llm_client: Any):
    if not graph_url.startswith("unix:"):
        pytest.skip("only of the server that this run started is the password known")
    with pytest.raises(InvalidInput, match="password") as caught:
        await GraphitiKnowledgeBase(f"{graph_url}?password={SECRET}", llm_client).setup()
    assert _silent(caught.value)


async def test_a_redis_without_falkordb_is_told_from_one_with_it(llm_client: Any, redis_url: str):
    with pytest.raises(InvalidInput, match="without FalkorDB"):
        await GraphitiKnowledgeBase(redis_url, llm_client).setup()


@pytest.mark.parametrize(
    ("status", "kind"), [(401, InvalidInput), (400, InvalidInput), (500, Unavailable), (503, Unavailable)]
)
async def test_a_model_that_refuses_or_fails_leaves_nothing_behind(
    knowledge: GraphitiKnowledgeBase,
    tell: Tell,
    model: ScriptedModel,
    tenant_id: str,
    status: int,
    kind: type[ClewError],
):
    model.status = status
    with pytest.raises(kind, match="llm_client") as caught:
        await tell("Ada likes Tea.", day(2024))
    assert not getattr(caught.value, "outcome_unknown", False)
    assert await knowledge.episodes(tenant_id=tenant_id) == []
    model.status = 200
    assert len((await tell("Ada likes Tea.", day(2024))).facts) == 1


async def test_a_model_that_answers_something_else_is_unavailable(tell: Tell, model: ScriptedModel):
    model.answer = '{"nothing": "of the kind"}'
    with pytest.raises(Unavailable, match="form"):
        await tell("Ada likes Tea.", day(2024))


async def test_a_connection_lost_while_writing_has_an_unknown_outcome(tell: Tell, monkeypatch: pytest.MonkeyPatch):
    exceptions = pytest.importorskip("redis.exceptions")

    async def lost(*args: Any, **named: Any) -> None:
        raise exceptions.ConnectionError("gone")

    monkeypatch.setattr("graphiti_core.graphiti.add_nodes_and_edges_bulk", lost)
    with pytest.raises(Unavailable) as caught:
        await tell("Ada likes Tea.", day(2024))
    assert caught.value.outcome_unknown


async def test_an_error_of_our_own_making_is_not_hidden(tell: Tell, monkeypatch: pytest.MonkeyPatch):
    async def wrong(*args: Any, **named: Any) -> None:
        raise AttributeError("a bug")

    monkeypatch.setattr("graphiti_core.graphiti.add_nodes_and_edges_bulk", wrong)
    with pytest.raises(AttributeError):
        await tell("Ada likes Tea.", day(2024))


@pytest.mark.parametrize("named", [{"llm_client": object()}, {"embedder": 7}, {"cross_encoder": object()}])
async def test_models_that_are_none_are_refused(graph_url: str, llm_client: Any, named: dict[str, Any]):
    with pytest.raises(InvalidInput, match=next(iter(named))):
        await GraphitiKnowledgeBase(graph_url, **{"llm_client": llm_client, **named}).setup()


BAD = {
    "add_episode": [
        {"name": "", "episode_body": "x"},
        {"name": "x", "episode_body": ""},
        {"name": "x", "episode_body": "nul \0"},
        {"name": "x", "episode_body": "x", "source": "video"},
        {"name": "x", "episode_body": "x", "reference_time": "yesterday"},
        {"name": "x", "episode_body": "x", "thread_id": ""},
        {"name": "x", "episode_body": "x", "confidence": 2},
        {"name": "x", "episode_body": "x", "tenant_id": "a/b"},
    ],
    "search": [
        {"query": " "},
        {"query": "x\0"},
        {"query": "x", "limit": 0},
        {"query": "x", "as_of": "soon"},
        {"query": "x", "known_at": 7},
        {"query": "x", "tenant_id": ""},
    ],
    "history": [{"subject": " "}, {"subject": "x" * 2000}, {"subject": 7}],
    "undo": [{"episode_id": "x"}, {"episode_id": None}],
    "forget": [{}, {"episode_id": "x"}, {"thread_id": "a", "episode_id": "b"}, {"thread_id": 7}],
    "fetch": [{"fact_ids": ["x"]}],
    "episodes": [{"limit": 0}],
}


@pytest.mark.parametrize(("method", "named"), [(method, one) for method, many in BAD.items() for one in many])
async def test_bad_input_is_refused_before_anyone_is_asked(
    graph_url: str, llm_client: Any, model: ScriptedModel, method: str, named: dict[str, Any]
):
    nowhere = GraphitiKnowledgeBase("falkor://127.0.0.1:1", llm_client)
    with pytest.raises(InvalidInput):
        await getattr(nowhere, method)(**named)
    assert model.asked == []
