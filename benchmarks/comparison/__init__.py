"""Runs the same work against Millrace and other HTTP caches, interleaved, and says what each request cost."""
