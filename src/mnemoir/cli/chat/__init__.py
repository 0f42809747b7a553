"""`mnemoir chat`: talk to the model in a terminal, with the conversations and memories of the server.

One file for each part: the request for a message (`conversation`), the streamed reply (`replies`), the output
(`display`, `terminal`), the input (`piped`, `prompt`), the commands that begin with a slash, and the loop.
"""
