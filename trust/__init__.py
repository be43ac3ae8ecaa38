"""Trials of the whole workflow: that results repeat, that nothing is lost, and that nothing wrong passes unseen."""
