"""Ask one question in a new chat with memory, through the `openai` package.

.venv/bin/pip install openai
.venv/bin/python examples/ask.py "What should I keep in mind when cooking for me?"

A server elsewhere than on port 6060 is named by --url or MNEMOIR_URL.
"""

import argparse
import os
import sys

from openai import APIConnectionError, OpenAI

options = argparse.ArgumentParser(description="Ask one question in a new chat with memory.")
options.add_argument("question", nargs="*", default=["What do you know about me?"])
options.add_argument("--url", default=os.environ.get("MNEMOIR_URL", "http://127.0.0.1:6060"))
given = options.parse_args()

client = OpenAI(base_url=f"{given.url}/v1", api_key="any", default_headers={"X-Memory": "on"})
try:
    answer = client.chat.completions.create(
        model="mnemoir", messages=[{"role": "user", "content": " ".join(given.question)}]
    )
except APIConnectionError:
    sys.exit(f"No server answers at {given.url}. Start it with make serve, or name its address: --url ADDRESS")
print(answer.choices[0].message.content)
