"""One module per raw format: its ``read`` turns raw files into the two tables of a data set."""
