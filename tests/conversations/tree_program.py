"""A client that dies: it sends its whole history with each question, stores the answers, and prints what was stored.

`python -m tests.conversations.tree_program <file> <round>`
"""

import sys

from mnemoir.conversations import MemoryManager, Message


def main(path: str, round_: str) -> None:
    with MemoryManager(path) as manager:
        for number in range(100_000):
            history = manager.load_session("s")
            name = f"{round_} {number}"
            if number % 5 == 4:  # the last answer again
                resumed = manager.resume_history("s", history[:-1])
            else:
                resumed = manager.resume_history("s", [*history, Message("user", f"question {name}")])
                print(f"question {name}", flush=True)
            answer = Message("assistant", f"answer {name}")
            manager.append_messages("s", [answer], parent_id=resumed.ids[-1])
            print(f"answer {name}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
