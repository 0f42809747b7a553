"""Functions on texts that modules import."""


def return_brackets_in_string(text: str) -> str:
    """The text unchanged: modules get braces as the user typed them, so none needs to be restored."""
    return text
