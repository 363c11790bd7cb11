"""All model APIs that Proctor speaks."""

from collections.abc import Mapping

from proctor.wire.anthropic_messages import AnthropicMessages
from proctor.wire.format import WireFormat
from proctor.wire.gemini import Gemini
from proctor.wire.openai_chat import OpenAIChat
from proctor.wire.openai_responses import OpenAIResponses

ANTHROPIC_MESSAGES: WireFormat = AnthropicMessages()
OPENAI_CHAT: WireFormat = OpenAIChat()
OPENAI_RESPONSES: WireFormat = OpenAIResponses()
GEMINI: WireFormat = Gemini()

FORMATS: Mapping[str, WireFormat] = {
    wire_format.name: wire_format
    for wire_format in (ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, GEMINI)
}
"""By name."""
