"""Step 4: reduce a model's answer to its tool calls.

Returns `{"tool_calls": [{"name", "parameters"}]}` as JSON, or the text itself if it has no tool calls.
"""

import json

from mcpo_calls import read_calls  # type: ignore[import-not-found]


def Invoke(text: str) -> str:
    calls = read_calls(text)
    return json.dumps({"tool_calls": calls}, ensure_ascii=False) if calls else text
