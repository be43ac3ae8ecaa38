"""What the paper prints: reasons why numbers differ are about numbers that it prints."""

from graphdr.cache import paths
from graphdr.paper import reference
from tests.support.project import ROOT


def test_every_reason_is_about_a_number_of_the_paper():
    printed = reference.numbers(str(ROOT / paths.PAPER))
    reasons = reference.reasons(str(ROOT / paths.PAPER_REASONS))
    assert reasons
    for (artifact, row, column), why in reasons.items():
        about = printed[printed["artifact"] == artifact]
        assert not row or row in set(about["row"]), row
        assert not column or column in set(about["column"]), column
        assert len(about), artifact
        assert why.endswith(".")
