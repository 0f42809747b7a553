"""Chat with memory through the `openai` package. Run `make serve` first, then this twice.

pip install openai
python examples/chat_openai.py [ADDRESS]

ADDRESS is that of the server: else MNEMOIR_URL, else http://127.0.0.1:6060.
"""

import os
import sys

from openai import APIConnectionError, OpenAI

SERVER = sys.argv[1] if sys.argv[1:] else os.environ.get("MNEMOIR_URL", "http://127.0.0.1:6060")
client = OpenAI(base_url=f"{SERVER}/v1", api_key="not-needed")


def say(text: str) -> None:
    """One new chat with one message, printed as it comes."""
    stream = client.chat.completions.create(
        model="mnemoir",
        messages=[{"role": "user", "content": text}],
        stream=True,
        extra_body={"memoryEnabled": True},
    )
    print(f"> {text}")
    for piece in stream:
        if piece.choices:
            print(piece.choices[0].delta.content or "", end="", flush=True)
    print("\n")


try:
    say("Hi, I'm Alex. I'm a vegetarian and allergic to nuts.")
    say("What should I keep in mind when cooking for me?")
except APIConnectionError:
    sys.exit(f"No server answers at {SERVER}. Start it with make serve, or name its address behind the command.")
