"""Readers of OBI-Bench: recognition, rejoining, classification, retrieval, deciphering."""
