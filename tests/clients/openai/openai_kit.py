"""What the calls of the `openai` package share."""

import openai
from mnemoir_calls import MODEL, USER


def client(url):
    """A client that tries once."""
    return openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)


def asking(made, model=MODEL):
    """The client's chat route, with a question unless a call says another."""
    return lambda **more: made.chat.completions.create(**{"model": model, "messages": [USER], **more})
