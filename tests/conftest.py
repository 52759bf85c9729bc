"""Fixtures: transcripts as snapshots, one file each. And the scores of the laws."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from helpers import SNAPSHOTS
from hypothesis import settings
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

# The machine is shared: how long an example takes says nothing.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")


class TranscriptExtension(SingleFileSnapshotExtension):
    """`snapshots/NAME.sse`: the bytes that go over the wire."""

    file_extension = "sse"

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:  # noqa: ARG003
        """All in one folder, where people and the command line find them."""
        return str(SNAPSHOTS)

    @classmethod
    def get_file_basename(
        cls,
        *,
        test_location: PyTestLocation,  # noqa: ARG003
        index: SnapshotIndex,
    ) -> str:
        """The name that the test gives, and nothing else."""
        return str(index)

    @classmethod
    def matches_test_location(
        cls,
        *,
        test_location: PyTestLocation,
        snapshot_location: str,
    ) -> bool:
        """All of them belong to the one file that tests transcripts."""
        here = Path(snapshot_location).parent == SNAPSHOTS
        return here and test_location.basename == "test_transcripts"


@pytest.fixture(name="transcript")
def _transcript(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TranscriptExtension)


def pytest_terminal_summary(terminalreporter) -> None:
    """Says how much the laws were tried, as tests recorded it with `record_property`."""
    scores: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name.startswith("score: "):
                scores[name.removeprefix("score: ")] += value
    if scores:
        terminalreporter.section("scores of the laws")
    for name, value in sorted(scores.items()):
        terminalreporter.write_line(f"{value:>9,}  {name}")
