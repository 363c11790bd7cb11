"""Asks one server with some connections at once, and prints what it measured as JSON.

Speaks HTTP over bare sockets, so that what it costs itself stays small and the same for all.
"""

import asyncio
import json
import sys
import time

PROMPT = "Say something. " * 250


def request(port: int, key: str, *, stream: bool) -> bytes:
    body = json.dumps(
        {
            "model": "gpt-5",
            "messages": [{"role": "user", "content": PROMPT}],
            **({"stream": True, "stream_options": {"include_usage": True}} if stream else {}),
        }
    ).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
        f"authorization: Bearer {key}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Asking(asyncio.Protocol):
    """One connection; a future for the answer that is under way."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def ask(self, data: bytes) -> "asyncio.Future[bool]":
        self.buffer, self.length = b"", None
        self.done = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        return self.done

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("closed"))

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if self.length is None:
            head, found, _ = self.buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if not head.startswith(b"HTTP/1.1 200"):
                self.done.set_exception(RuntimeError(self.buffer[:300].decode()))
                return
            self.length = -1
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    self.length = len(head) + 4 + int(line.partition(b":")[2])
        whole = (
            self.buffer.endswith(b"0\r\n\r\n")
            if self.length < 0
            else (len(self.buffer) >= self.length)
        )
        if whole and not self.done.done():
            self.done.set_result(True)


async def main(port: int, key: str, stream: bool, clients: int, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    data = request(port, key, stream=stream)
    times: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        _, asking = await loop.create_connection(Asking, "127.0.0.1", port)
        while (start := time.perf_counter()) < end:
            await asking.ask(data)
            times.append(time.perf_counter() - start)
        asking.transport.close()

    start = time.perf_counter()
    await asyncio.gather(*[one() for _ in range(clients)])
    took = time.perf_counter() - start
    times.sort()
    measured = {
        "requests": len(times),
        "per_second": len(times) / took,
        "p50_ms": times[len(times) // 2] * 1000,
        "p99_ms": times[int(len(times) * 0.99)] * 1000,
    }
    sys.stdout.write(json.dumps(measured) + "\n")


if __name__ == "__main__":
    port_, key_, stream_, clients_, seconds_ = sys.argv[1:]
    asyncio.run(main(int(port_), key_, stream_ == "stream", int(clients_), float(seconds_)))
