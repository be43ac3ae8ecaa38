"""A simulation on a user's data: who makes graph and features pays no reward, and every method is calibrated."""
