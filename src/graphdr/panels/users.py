"""The users of a data set, out of their table."""

import numpy as np
import pyarrow.compute as pc

from graphdr.cache import io
from graphdr.graphs.records import Users


def read_users(path: str) -> Users:
    """Read what is known of the users, in the order of their numbers."""
    table = io.read("dataset_users", path)
    age = io.values(table["age"].fill_null(-1))
    gender, occupation = (io.values(table[name].fill_null("")) for name in ("gender", "occupation"))
    lists = table["friends"].combine_chunks()
    user = np.repeat(np.arange(len(table)), io.values(pc.list_value_length(lists).fill_null(0)))
    friend = io.values(lists.flatten())
    once = user < friend  # a friendship is in the lists of both
    return Users(age, gender, occupation, np.stack([user[once], friend[once]]))
