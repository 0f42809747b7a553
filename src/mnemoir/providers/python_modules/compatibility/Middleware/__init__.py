"""What modules written for WilmerAI import, over the files of the config tree and nothing of the server.

Only the process of a module finds this package; it reads what the call that the process is for tells it.
"""
