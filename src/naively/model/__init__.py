"""Models: class constants and terms, read off a summary; and what scores rows by them."""
