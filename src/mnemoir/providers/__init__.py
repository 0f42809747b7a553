"""Other programs that Mnemoir asks: language models, embedding models, memory services."""
