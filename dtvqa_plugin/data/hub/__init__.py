"""The Hugging Face hub: addresses, requests, members of a remote archive."""
