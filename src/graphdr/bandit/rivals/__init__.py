"""Other bandits of the field, one module each, as policies that play the runs of LinUCB; docs/rivals.md."""
