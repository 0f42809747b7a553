"""Strategies: which of a session's messages make the window that is sent to the model.

`simple` keeps the newest, `summarization` a summary of the rest in front of them, `hybrid` the important ones
besides. None of them changes what is stored.
"""
