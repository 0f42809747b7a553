"""Step 4: what a model wrote, reduced to the calls in it.

Gives `{"tool_calls": [{"name", "parameters"}]}` as JSON, or the text itself if there is no call in it.
"""

import json

from mcpo_calls import read_calls  # type: ignore[import-not-found]


def Invoke(text: str) -> str:
    calls = read_calls(text)
    return json.dumps({"tool_calls": calls}, ensure_ascii=False) if calls else text
