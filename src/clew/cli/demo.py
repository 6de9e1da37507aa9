"""`clew demo`: a scene in the terminal. A conversation that outgrows its window, a tool that returns too much, memories
that are found again, a wall that holds."""

import asyncio
from collections.abc import Iterator
from typing import Final

from rich.live import Live
from rich.panel import Panel

from clew.cli import terminal
from clew.cli.compile import window
from clew.cli.memory import print_facts, print_memories
from clew.engine import Clew
from clew.handles import Tenant
from clew.ids import ARTIFACT_ID

_ACME: Final = "demo-acme"
_GLOBEX: Final = "demo-globex"
_THREAD: Final = "support-42"
_SYSTEM: Final = "You are Acme's support agent. Be brief, and say where you know a thing from."
_TASK: Final = {"description": "Tell Ana when she can print labels again, and what the repair will cost."}
_FACTS: Final = [
    ("Ana Duarte runs the Lisbon warehouse and prefers to be called before 10 in the morning.", "crm"),
    ("Acme's service contract covers printer repairs up to 400 euros; above that the customer signs off.", "contract"),
    ("The label printer in Lisbon is a Zorin LP-9, bought in March 2024, serial 88-1203.", "inventory"),
    ("A technician visits Lisbon every Tuesday and Friday.", "schedule"),
    ("Replacing the print head of an LP-9 takes two hours and costs 310 euros.", "price list"),
    ("The Porto office moved to a new building in June.", "newsletter"),
    ("Acme's fiscal year ends in September.", "finance"),
]
_QUESTION: Final = "What does it cost to replace the print head?"
_PRICE: Final = "The print head costs 310 euros."
_CORRECTION: Final = "The print head actually costs 340 euros, not 310 euros."
_SYMPTOMS: Final = [
    "prints pale labels",
    "jams on every third label",
    "skips a line in the barcode",
    "smells of hot plastic",
    "shows error E-17 after a restart",
    "feeds two labels at once",
]
_MESSAGES: Final = 120
_LOOKS: Final = (10, 30, 60, 90, _MESSAGES)
_LOOK_S: Final = 0.6
_LOG_LINES: Final = 1_440
_FAULT_LINE: Final = 911
_FAULT: Final = "2026-03-02 15:11 ERROR LP-9 E-17: print head at 91 °C, limit 85 °C; 3 labels lost"


def demo(database: terminal.DatabaseUrl = None) -> None:
    """See Clew do its job, offline, in a few seconds: nothing to set up, no key."""
    terminal.run(database, _scene)


async def _scene(engine: Clew) -> None:
    acme, globex = engine.tenant(_ACME), engine.tenant(_GLOBEX)
    await _clean(acme)
    _say("1", "A conversation outgrows its window. Nothing is lost: what leaves is one read away.")
    await _conversation(acme)
    _say("2", "A tool returns far too much. The model sees a summary, and can read any of it back.")
    await _tool(acme)
    _say("3", "What is known is found again, without a model, and says why.")
    terminal.out.print(f"   [dim]acme asks:[/] {_QUESTION}")
    found = await acme.recall(_QUESTION, 3)
    print_memories(found)
    _say("4", "What is said in one conversation is known in the next. Nobody presses save, and nothing is overwritten.")
    await _correction(acme)
    _say("5", "Another tenant asks the same, and even names what it found.")
    await _wall(globex, found[0].memory_id)
    terminal.out.print(
        Panel(
            "[bold]clew recall 'when does the technician come?' --tenant demo-acme[/]\n"
            "[bold]clew recall --history 'the print head' --tenant demo-acme[/]\n"
            "[bold]clew compile support-42 --tenant demo-acme --tier fast --explain[/]\n"
            "[bold]clew threads show support-42 --tenant demo-acme --search E-17[/]\n"
            "[bold]clew artifacts list --tenant demo-acme[/]\n"
            "[bold]clew remember 'The demo took less than a minute.'[/]   [bold]clew doctor[/]",
            title="Try next",
            title_align="left",
            border_style="green",
            expand=False,
        )
    )


async def _conversation(acme: Tenant) -> None:
    for text, source in _FACTS:
        await acme.remember(text, {"source": source})
    thread = acme.thread(_THREAD)
    turns = list(_turns())
    with Live(console=terminal.out, auto_refresh=False) as live:
        for start, end in zip((0, *_LOOKS[:-1]), _LOOKS, strict=True):
            await thread.append(turns[start:end])
            await thread.compact()
            context = await thread.compile(_TASK, _SYSTEM, model_tier="fast", tools=thread.tools())
            live.update(
                Panel(window(context.manifest), title=f"{end} messages", title_align="left", expand=False), refresh=True
            )
            await asyncio.sleep(_LOOK_S if terminal.out.is_terminal else 0)
    terminal.out.print()
    [compaction, *_] = await thread.compactions(1)
    recent = sum(item.kept for item in context.manifest.of("session")) - 1
    [first] = await thread.recall_messages(positions="1")
    terminal.out.print(
        f"   [green]✔[/] {_MESSAGES} messages in the log; in the window the newest {recent}, and a summary of messages "
        f"1-{compaction.through}"
    )
    terminal.out.print(f"   [green]✔[/] message 1, by recall_messages: “{first.message.text[:60]}…”")


def printer_log(printer: str) -> str:
    """What the printer wrote down last night: a tool that an agent might call."""
    lines = (
        f"2026-03-02 {second // 60:02d}:{second % 60:02d} INFO {printer} label {second} printed in 1.{second % 9} s"
        for second in range(_LOG_LINES)
    )
    return "\n".join(_FAULT if number == _FAULT_LINE else line for number, line in enumerate(lines))


async def _tool(acme: Tenant) -> None:
    shown = await acme.isolate(printer_log)(printer="LP-9")
    [saved] = [one for one in await acme.savings() if one.tool == printer_log.__name__]
    terminal.out.print(
        f"   [dim]the tool returned[/] {saved.full_tokens // saved.isolated:,} tokens[dim]; the model sees:[/]"
    )
    terminal.out.print(f"   {terminal.shown(shown)}", highlight=False)
    search = next(tool for tool in acme.tools() if tool.__name__ == "search_artifact")
    found = await search(ARTIFACT_ID.findall(shown)[0], "E-17")
    terminal.out.print("   [dim]the model calls[/] search_artifact(…, 'E-17')[dim]:[/]")
    terminal.out.print(f"   {terminal.shown(found)}", highlight=False)


async def _correction(acme: Tenant) -> None:
    await acme.learn("price list", _PRICE, reference_time="2026-01-02")
    told, asks = acme.thread("mail-7"), acme.thread("call-8")
    await told.append({"role": "user", "content": _CORRECTION})
    await asks.append({"role": "user", "content": f"Call me Ana. {_QUESTION}"})
    context = await asks.compile("Answer the user.", _SYSTEM)
    looked = context.manifest.selection
    terminal.out.print(f"   [dim]said in mail-7:[/] {_CORRECTION}")
    terminal.out.print(f"   [dim]asked in call-8:[/] Call me Ana. {_QUESTION}")
    if looked is not None:
        terminal.out.print(
            f"   [green]✔[/] seen as {looked.intent}; {looked.candidates} candidates; the system prompt ends:"
        )
    terminal.out.print(f"     [dim]{terminal.shown(context.messages[0]['content'].splitlines()[-1])}[/]")
    print_facts(await acme.history("the print head"))


async def _wall(globex: Tenant, memory_id: str) -> None:
    terminal.out.print(
        f"   [green]✔[/] globex recalls the same question and finds {len(await globex.recall(_QUESTION))}"
    )
    said = "deleted" if await globex.forget(memory_id) else "there is no such thing here"
    terminal.out.print(f"   [green]✔[/] globex deletes acme's memory by its id: {said}")
    seen = len(await globex.thread(_THREAD).messages())
    terminal.out.print(f"   [green]✔[/] globex opens a thread of the same name and reads {seen} messages\n")


async def _clean(acme: Tenant) -> None:
    """A demo that is run twice shows the same twice."""
    await acme.erase()


def _turns() -> Iterator[dict[str, str]]:
    for number in range(_MESSAGES // 2):
        symptom = _SYMPTOMS[number % len(_SYMPTOMS)]
        order = 1000 + number
        yield {
            "role": "user",
            "content": f"About order {order}: the label printer in Lisbon {symptom} again. We cleaned it as you said, "
            f"restarted it twice, and the queue now holds {20 + number * 3} parcels. What should we do next?",
        }
        yield {
            "role": "assistant",
            "content": f"Thank you, Ana. For order {order} please print a test page and tell me the counter it shows; "
            f"if it still {symptom}, take the spare ribbon from shelf {number % 9 + 1}. I noted the parcels.",
        }


def _say(number: str, sentence: str) -> None:
    terminal.out.print(f"\n[bold green]{number}.[/] [bold]{sentence}[/]")
