"""A conversation that the server keeps: said, gone on with, tried again on another branch, exported.

pip install requests
python examples/conversations.py [ADDRESS]

ADDRESS is that of the server: else MNEMOIR_URL, else http://127.0.0.1:6060.
"""

import os
import sys
import uuid

import requests

SERVER = sys.argv[1] if sys.argv[1:] else os.environ.get("MNEMOIR_URL", "http://127.0.0.1:6060")
CONVERSATION = f"trip-{uuid.uuid4().hex[:8]}"


def say(text: str) -> str:
    """Send the new message alone; the server shows the model what was said before."""
    body = {"model": "mnemoir", "history": "server", "messages": [{"role": "user", "content": text}]}
    headers = {"X-Session-Id": CONVERSATION}
    reply = requests.post(f"{SERVER}/v1/chat/completions", json=body, headers=headers, timeout=120)
    reply.raise_for_status()
    return reply.json()["choices"][0]["message"]["content"]


def ask(method: str, below: str = "", **given: object) -> requests.Response:
    """A request about the conversation."""
    answer = requests.request(method, f"{SERVER}/api/conversations/{CONVERSATION}{below}", timeout=60, **given)
    answer.raise_for_status()
    return answer


try:
    print(say("I want to go to the sea in May."))
except requests.ConnectionError:
    sys.exit(f"No server answers at {SERVER}. Start it with make serve, or name its address behind the command.")
print(say("Which month did I say?"))

first_answer = ask("GET", "/messages").json()["results"][1]
ask("PUT", "/head", json={"message_id": first_answer["id"]})  # go back, and on from there
print(say("No, make that September."))

for message in ask("GET", "/messages", params={"view": "tree"}).json()["results"]:
    mark = " " if message["on_thread"] else "-"
    text = " ".join(message["content"].split())[:60]
    print(mark, message["id"], "behind", message["parent_id"], message["role"], text)

print(ask("GET", "/export", params={"format": "markdown"}).text)
print(ask("DELETE").json()["message"])
