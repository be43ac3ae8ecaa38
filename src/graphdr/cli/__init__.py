"""The command ``graphdr``: list what is cached, show it, say where a number comes from, verify. No stage imports it."""
