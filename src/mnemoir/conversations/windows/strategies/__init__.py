"""Strategies that choose the messages of a session for the window that is sent to the model.

`simple` keeps the newest messages, `summarization` adds a summary of the others before them, `hybrid` also keeps
important older messages. No strategy changes stored messages.
"""
