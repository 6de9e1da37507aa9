"""Appends to one thread until told to stop or killed; prints the number of each append that was acknowledged."""

import asyncio
import sys

from clew.sessions import SessionStore


async def main(url: str, tenant_id: str, name: str, appends: int, messages_each: int) -> None:
    async with SessionStore(url) as store:
        for number in range(appends):
            batch = [{"role": "user", "content": f"{name}:{number}:{part}"} for part in range(messages_each)]
            await store.append("shared", batch, tenant_id=tenant_id, idempotency_key=f"{name}:{number}")
            print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], *map(int, sys.argv[4:])))
