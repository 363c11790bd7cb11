"""Hides the usage chunk of a stream from a client that did not ask for it. Pure."""

from proctor.wire.fields import json_object
from proctor.wire.sse import MAX_EVENT_BYTES, EventParser, event_ends


class HideUsage:
    """Passes whole events on and drops the one that carries only usage.

    That chunk has an empty list of choices, which a client that never asked does not expect.
    All other events pass byte for byte.
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> bytes:
        """Give the events that ended in ``chunk``, but for the usage chunk."""
        buffer = self._rest + chunk
        # Three bytes of the end of an event may have come before.
        ends = event_ends(buffer, max(0, len(self._rest) - 3))
        self._rest = buffer[ends[-1] :] if ends else buffer
        events = [buffer[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        if len(self._rest) > MAX_EVENT_BYTES:
            events.append(self.end())
        return b"".join(event for event in events if not _is_usage(event))

    def end(self) -> bytes:
        """What is left without its end."""
        rest, self._rest = self._rest, b""
        return rest


def _is_usage(event: bytes) -> bool:
    for data in EventParser().feed(event):
        body = json_object(data)
        if body is not None and body.get("choices") == [] and type(body.get("usage")) is dict:
            return True
    return False
