"""The package that modules written for WilmerAI import. It reads the config tree and uses nothing of the server.

Only code that runs a module imports this package; the call gives it the config root and the user.
"""
