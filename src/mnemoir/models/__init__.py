"""Language models and embedding models: which are used, whether they answer, and how fast."""
