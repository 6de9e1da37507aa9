"""Hears the same messages as others do at the same time; waits for a line on its input before it starts."""

import asyncio
import sys

from clew.context.standing import StandingInstruction
from clew.context.standing.kept import Heard, StandingInstructions


async def main(url: str, tenant_id: str, messages: int) -> None:
    async with StandingInstructions(url) as standing:
        database = await standing.opened()
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for number in range(messages):
            given = StandingInstruction(f"Answer in language {number}", slot="language")
            also = StandingInstruction(f"Always say {number}")
            async with database.tenant(tenant_id) as connection:
                said = [Heard(one, (), f"t{number % 2}", "sam", f"m{number}") for one in (given, also)]
                await standing.heard(connection, tenant_id, said=said)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
