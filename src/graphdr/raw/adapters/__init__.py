"""One module per raw format: its ``read`` turns raw files into the tables of a data set."""
