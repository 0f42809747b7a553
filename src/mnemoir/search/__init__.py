"""Recall: words, vectors and cues over the rows of one user, fused into one ranking.

`indexing` makes the index entry of a text, `recall` searches; the stages between are plain functions over arrays, one
per file, independent of SQL and HTTP.
"""

from mnemoir.search.indexing import Indexing
from mnemoir.search.recall import Question, Recall, SearchResult
from mnemoir.search.terms import terms_of

__all__ = ["Indexing", "Question", "Recall", "SearchResult", "terms_of"]
