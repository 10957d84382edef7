"""Exchanges: probes and replies, requests and responses, small writes."""
