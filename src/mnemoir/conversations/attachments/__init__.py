"""Files sent with messages: where their bytes lie and how messages refer to them."""
