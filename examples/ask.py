"""Ask one question in a new chat with memory, through the `openai` package.

.venv/bin/python examples/ask.py "What should I keep in mind when cooking for me?"
"""

import sys

from openai import OpenAI

client = OpenAI(base_url="http://127.0.0.1:6060/v1", api_key="any", default_headers={"X-Memory": "on"})
question = " ".join(sys.argv[1:]) or "What do you know about me?"
answer = client.chat.completions.create(model="mnemoir", messages=[{"role": "user", "content": question}])
print(answer.choices[0].message.content)
