"""Texts as modules get them."""


def return_brackets_in_string(text: str) -> str:
    """The text itself: modules get braces as they were typed, so none is to be turned back."""
    return text
