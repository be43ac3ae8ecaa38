"""An honest simulation on a user's data: what makes graph and features pays no reward, and every method is calibrated."""
