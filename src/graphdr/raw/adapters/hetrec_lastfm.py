"""Last.fm of HetRec 2011: plays of artists by users, the names of the artists, and friendships of users."""

import numpy as np

from graphdr.raw.tables import Tables, interactions, with_friends
from graphdr.raw.text import Raw, load, parse

PLAYS = {"userID": "digits", "artistID": "digits", "weight": "count"}
ARTISTS = {"id": "digits", "name": "text", "url": None, "pictureURL": None}
FRIENDS = {"userID": "digits", "friendID": "digits"}


def read(raw: Raw) -> Tables:
    """Read plays of artists; the reward is the mean of log(1 + plays) over the listeners."""
    rows = parse(load(raw, "plays"), PLAYS, "\t", header="\t".join(PLAYS)).columns
    plays = rows["weight"].to_numpy().astype(float)
    items = None
    if raw.has("artists"):
        artists = parse(load(raw, "artists"), ARTISTS, "\t", header="\t".join(ARTISTS))
        items = artists._replace(columns=artists.columns.rename_columns(["id", "title"]))
    tables = interactions(rows["userID"], rows["artistID"], plays, rewards=np.log1p(plays), items=items)
    if not raw.has("friends"):
        return tables
    return with_friends(tables, parse(load(raw, "friends"), FRIENDS, "\t", header="\t".join(FRIENDS)))
