"""OpenAI's and Ollama's protocols: chat dialects, model lists, embeddings, and their OpenAPI description."""
