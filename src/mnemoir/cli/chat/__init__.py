"""`mnemoir chat`: talk to the model in a terminal, with the conversations and memories of the server.

One file for each part: what is sent for a message (`conversation`), what comes back (`replies`), where it is shown
(`display`, `terminal`), where it is typed (`piped`, `prompt`), the commands that begin with a slash, and the loop.
"""
