"""Chat with memory through the `openai` package. Run `make serve` first, then this twice.

pip install openai
python examples/chat_openai.py
"""

from openai import OpenAI

client = OpenAI(base_url="http://127.0.0.1:6060/v1", api_key="not-needed")


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


say("Hi, I'm Alex. I'm a vegetarian and allergic to nuts.")
say("What should I keep in mind when cooking for me?")
