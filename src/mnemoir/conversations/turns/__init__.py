"""Dialogues of question and answer: turns, their threads, presets and token-buffer memory."""
