"""Clients of other programs: language models, embedding models, memory services, Python modules."""
