"""Opens many streams at once and holds them: prints a line when all have begun, another at the end.

Each waits for its first chunk; when standard input ends, the provider is told to go on, and each
stream is read to its end.
"""

import asyncio
import json
import sys
import urllib.request

from client import request


async def hold(port: int, key: str, begun: asyncio.Queue[bool]) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = request(port, key, stream=True)
    # The provider holds answers to requests with this word in it.
    head, _, body = data.partition(b"\r\n\r\n")
    body = body.replace(b'"stream"', b'"user": "hold", "stream"')
    head = head.rpartition(b" ")[0] + b" %d" % len(body)
    writer.write(head + b"\r\n\r\n" + body)
    seen = await reader.readuntil(b"word ")
    begun.put_nowait(True)
    seen += await reader.readuntil(b"\r\n0\r\n\r\n")
    writer.close()
    return seen.count(b"chat.completion.chunk")


async def main(port: int, key: str, upstream: int, count: int) -> None:
    loop = asyncio.get_running_loop()
    begun: asyncio.Queue[bool] = asyncio.Queue()
    streams = [loop.create_task(hold(port, key, begun)) for _ in range(count)]
    for _ in range(count):
        await begun.get()
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)
    go = f"http://127.0.0.1:{upstream}/go"
    await loop.run_in_executor(None, lambda: urllib.request.urlopen(go).close())
    chunks = await asyncio.gather(*streams)
    sys.stdout.write(json.dumps({"whole": sum(n == 21 for n in chunks)}) + "\n")


if __name__ == "__main__":
    port_, key_, upstream_, count_ = sys.argv[1:]
    asyncio.run(main(int(port_), key_, int(upstream_), int(count_)))
