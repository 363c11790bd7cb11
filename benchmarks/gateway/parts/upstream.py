"""A provider of Chat Completions that costs as little as it can: prints its port, then serves.

A request that asks for a stream gets 20 chunks and the usage chunk; one whose body has the word
`hold` gets its first chunk, and the others when everybody has been asked to go on (GET /go).
"""

import asyncio
import json
import sys

MODEL = "gpt-5"
TEXT = "word " * 12


def chunk(**fields: object) -> bytes:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return b"data: " + json.dumps({**head, **fields}).encode() + b"\n\n"


def delta(text: str, finish: str | None = None) -> bytes:
    return chunk(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": finish}])


USAGE = {"prompt_tokens": 1000, "completion_tokens": 240, "total_tokens": 1240}
WHOLE = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": TEXT * 20},
                "finish_reason": "stop",
            }
        ],
        "usage": USAGE,
    }
).encode()
CHUNKS = [*[delta(TEXT)] * 19, delta(TEXT, "stop"), chunk(choices=[], usage=USAGE)]
CHUNKS.append(b"data: [DONE]\n\n")


def framed(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(WHOLE)
    + WHOLE
)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


class Provider(asyncio.Protocol):
    held: list["Provider"] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        self.answer(head, rest[:length])

    def answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET /go"):
            for waiting in self.held:
                waiting.finish()
            self.held.clear()
            self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        elif b'"hold"' in body:
            self.transport.write(HEAD + framed(CHUNKS[0]))
            self.held.append(self)
        elif b'"stream": true' in body or b'"stream":true' in body:
            # Each chunk in a write of its own: a proxy has to pass 22 pieces on.
            self.transport.write(HEAD)
            asyncio.get_running_loop().call_soon(self.send, 0)
        else:
            self.transport.write(ANSWER)

    def send(self, number: int) -> None:
        if number == len(CHUNKS):
            self.transport.write(END)
            return
        self.transport.write(framed(CHUNKS[number]))
        asyncio.get_running_loop().call_soon(self.send, number + 1)

    def finish(self) -> None:
        self.transport.write(b"".join(framed(part) for part in CHUNKS[1:]) + END)


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Provider, "127.0.0.1", 0, backlog=4096)
    sys.stdout.write(json.dumps({"port": server.sockets[0].getsockname()[1]}) + "\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
