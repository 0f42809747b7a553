"""A memory to look at: a user of its own with two years of chats and memories, all of it invented."""

from mnemoir.chats.sample.sample import SAMPLE_USER, Sample, is_left_of_sample, is_sample_there, store_sample

__all__ = ["SAMPLE_USER", "Sample", "is_left_of_sample", "is_sample_there", "store_sample"]
