"""Recall: words, vectors and cues over the rows of one user, fused into one ranking.

`indexing` makes what is stored beside a text, `recall` finds texts again; the stages between are plain functions over
arrays, one a file, and none knows SQL or HTTP.
"""

from mnemoir.search.indexing import Indexing
from mnemoir.search.recall import Question, Recall, SearchResult
from mnemoir.search.terms import terms_of

__all__ = ["Indexing", "Question", "Recall", "SearchResult", "terms_of"]
