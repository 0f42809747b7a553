"""Chat with memory through the `ollama` package. Run `make serve` first, then this twice.

pip install ollama
python examples/chat_ollama.py
"""

from ollama import Client

client = Client(host="http://127.0.0.1:6060", headers={"X-Memory": "on"})


def say(text: str) -> None:
    """One new chat with one message, printed as it comes."""
    print(f"> {text}")
    for piece in client.chat(model="mnemoir", messages=[{"role": "user", "content": text}], stream=True):
        print(piece.message.content, end="", flush=True)
    print("\n")


say("Hi, I'm Alex. I'm a vegetarian and allergic to nuts.")
say("What should I keep in mind when cooking for me?")
