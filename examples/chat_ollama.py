"""Chat with memory through the `ollama` package. Run `make serve` first, then this twice.

pip install ollama
python examples/chat_ollama.py [ADDRESS]

ADDRESS is that of the server: else MNEMOIR_URL, else http://127.0.0.1:6060.
"""

import os
import sys

from httpx import ConnectError
from ollama import Client

SERVER = sys.argv[1] if sys.argv[1:] else os.environ.get("MNEMOIR_URL", "http://127.0.0.1:6060")
client = Client(host=SERVER, headers={"X-Memory": "on"})


def say(text: str) -> None:
    """One new chat with one message, printed as it comes."""
    print(f"> {text}")
    for piece in client.chat(model="mnemoir", messages=[{"role": "user", "content": text}], stream=True):
        print(piece.message.content, end="", flush=True)
    print("\n")


try:
    say("Hi, I'm Alex. I'm a vegetarian and allergic to nuts.")
    say("What should I keep in mind when cooking for me?")
except ConnectError:
    sys.exit(f"No server answers at {SERVER}. Start it with make serve, or name its address behind the command.")
