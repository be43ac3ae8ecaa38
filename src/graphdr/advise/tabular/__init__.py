"""Tables as people have them: any usual encoding, separator and heading, read into columns and then into ``Data``."""
