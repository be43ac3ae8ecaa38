"""Advice on data of one's own, before a policy is deployed."""
