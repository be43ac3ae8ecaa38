"""Advice in the form of the paper: its settings and noise, built with the stages of the workflow and cached there."""
