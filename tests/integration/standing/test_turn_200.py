"""What was asked for in turn 3 is in the window of turn 200, after two compactions, and gone once it is taken back."""

import pytest

from clew import Compactor
from clew.context import SessionMessage, WorkingContextCompiler
from clew.context.compaction import shown
from clew.context.compactor import entries_of
from clew.context.standing import recognise_instruction, revokes
from clew.context.standing.kept import Heard
from clew.context.standing.summarised import without_told
from clew.sessions import SessionStore
from clew.store.jobs import Jobs

PROMPT = "You tend the pumps of a waterworks."
ASKED = {
    "user": "Keep your answers short and friendly.",
    "thread": "Always sign as Otter in this conversation.",
    "tenant": "Always convert pressures to psi, for everyone.",
}
WORDS = {"user": "short and friendly", "thread": "Otter", "tenant": "psi"}


class Conversation:
    """Two hundred turns about valves. The third asks for something; each message is heard once, when it is said."""

    def __init__(self, database, standing, tenant, *, keeps: bool = True, asked: tuple[str, ...] = tuple(ASKED)):
        self.sessions, self.standing, self.tenant, self.keeps = SessionStore(database), standing, tenant, keeps
        self.compactor = Compactor(database, jobs=Jobs(database, in_process=False))
        self.asked = " ".join(ASKED[scope] for scope in asked)

    async def say(self, text: str, user: str = "sam") -> None:
        (message_id,) = await self.sessions.append(
            "pumps", {"role": "user", "content": text}, tenant_id=self.tenant, user_id=user
        )
        if not self.keeps:
            return
        async with (await self.standing.opened()).tenant(self.tenant) as connection:
            for sentence in text.split(". "):
                seen = await self.standing.seen(connection, self.tenant, thread_id="pumps", user_id=user)
                ended = {id(one) for one in revokes(sentence, [one.instruction for one in seen])}
                ids = tuple(one.instruction_id for one in seen if id(one.instruction) in ended)
                heard = Heard(recognise_instruction(sentence), ids, "pumps", user, message_id)
                await self.standing.heard(connection, self.tenant, said=[heard])

    async def turns(self, first: int, last: int) -> None:
        for n in range(first, last + 1):
            if n == 3:
                await self.say(self.asked)
            else:
                await self.say(f"Valve V-{1000 + n} holds {200 + n} bar and looks clean and dry as it should.")
            answer = {"role": "assistant", "content": f"Noted for valve V-{1000 + n}."}
            await self.sessions.append("pumps", answer, tenant_id=self.tenant)

    async def to_turn_200(self) -> None:
        for first, last in ((1, 80), (81, 160)):
            await self.turns(first, last)
            compaction = await self.compactor.compact("pumps", tenant_id=self.tenant)
            assert compaction.through > 6, "turn 3 is in the log, and no longer in the window"
        await self.turns(161, 200)
        assert len(await self.compactor.compactions("pumps", tenant_id=self.tenant)) == 2

    async def window(self, thread: str = "pumps", user: str | None = "sam", tenant: str | None = None):
        """What a model is sent: the thread as it is seen, and what holds for it."""
        tenant = tenant or self.tenant
        held = await self.standing.active(tenant_id=tenant, thread_id=thread, user_id=user) if self.keeps else []
        told = await self.standing.told(thread, tenant_id=tenant) if self.keeps else []
        session = await self._seen(thread, tenant, told)
        return WorkingContextCompiler("fast").compiled(PROMPT, session, [], "How are the pumps?", instructions=held)

    async def _seen(self, thread: str, tenant: str, told: list[str]) -> list[SessionMessage]:
        current = await self.compactor.current(thread, tenant_id=tenant)
        if current is None:
            return []
        entries = entries_of(await self.sessions.read(thread, 500, tenant_id=tenant))
        return [
            SessionMessage(item.message, item.tokens, "the older turns" if item.position is None else None)
            for item in shown(without_told(current.view, told), entries, references=False)
        ]


def heard_in(compiled) -> set[str]:
    """Whose words are in the system prompt; they are nowhere else in what is sent."""
    system, *rest = map(str, compiled.sent_messages)
    assert [words for words in WORDS.values() if words in str(rest)] == []
    return {scope for scope, words in WORDS.items() if words in system}


@pytest.fixture
async def conversation(database, standing, tenant):
    conversation = Conversation(database, standing, tenant)
    await conversation.to_turn_200()
    return conversation


async def test_what_was_asked_in_turn_3_is_in_the_window_of_turn_200(conversation):
    compiled = await conversation.window()
    assert compiled.system_prompt.startswith(PROMPT)
    assert heard_in(compiled) == {"user", "thread", "tenant"}
    assert ASKED["user"].removesuffix(".") in compiled.system_prompt
    assert [item.kind for item in compiled.manifest.of("system")] == [
        "system_prompt", "instruction", "instruction", "instruction", "wrapper",
    ]  # fmt: skip
    assert "V-1200" in str(compiled.messages), "it is the window of turn 200"


async def test_it_is_gone_once_it_is_taken_back_in_words(conversation):
    await conversation.say("You don't have to convert pressures anymore.")
    assert heard_in(await conversation.window()) == {"user", "thread"}
    (otter,) = [one for one in await conversation.standing.active(
        tenant_id=conversation.tenant, thread_id="pumps", user_id="sam") if "Otter" in one.text]  # fmt: skip
    await conversation.standing.revoke(otter.instruction_id, tenant_id=conversation.tenant)
    assert heard_in(await conversation.window()) == {"user"}


async def test_each_reaches_those_it_is_for_and_nobody_else(conversation, other_tenant):
    for thread, user, tenant, reached in [
        ("another", "sam", None, {"user", "tenant"}),
        ("another", "alex", None, {"tenant"}),
        ("another", None, None, {"tenant"}),
        ("pumps", "sam", other_tenant, set()),
    ]:
        assert heard_in(await conversation.window(thread, user, tenant)) == reached, (thread, user)


async def test_without_their_room_the_words_are_not_in_the_window_of_turn_200(database, standing, tenant):
    conversation = Conversation(database, standing, tenant, keeps=False, asked=("user",))
    await conversation.turns(1, 3)
    assert WORDS["user"] in str((await conversation.window()).sent_messages), "said, and still in the window"
    conversation = Conversation(database, standing, f"{tenant}-long", keeps=False, asked=("user",))
    await conversation.to_turn_200()
    assert WORDS["user"] not in str((await conversation.window()).sent_messages)
