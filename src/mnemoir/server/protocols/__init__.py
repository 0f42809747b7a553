"""OpenAI's and Ollama's protocols: their dialects, lists of models, vectors, and description."""
