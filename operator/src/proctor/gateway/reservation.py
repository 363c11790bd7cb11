"""What a call is taken for until its figures are known: input by its size, output by its limit."""

import re

from proctor.api.usage import Usage
from proctor.wire.estimate import tokens

MOST_OUTPUT_TOKENS = 4096
"""Most answers are shorter, and clients ask for far more than they use (Claude Code: 32,000). A
larger figure would keep parallel calls waiting for money that none of them spends; a smaller one
lets more of them overshoot."""

MOST_INPUT_TOKENS = 200_000
"""Pictures in base64 are long texts of few tokens."""

_LIMIT = re.compile(
    rb'"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)"\s*:\s*(\d{1,9})\b'
)


def reservation(body: bytes) -> Usage:
    """The tokens that a request is taken for; at least one of each kind that it has."""
    limits = [int(limit) for limit in _LIMIT.findall(body)]
    asked = max(limits, default=MOST_OUTPUT_TOKENS)
    return Usage(
        input=max(1, min(tokens(len(body)), MOST_INPUT_TOKENS)),
        output=max(1, min(asked, MOST_OUTPUT_TOKENS)),
    )
