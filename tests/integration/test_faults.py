"""The fault matrix: a gateway with whatever goes wrong behind it and in front of it."""

from __future__ import annotations

import asyncio

import pytest
from faults import Matrix, Reader, run_all
from faulty_upstream import Fault, cases

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module", name="matrix")
def _matrix() -> Matrix:
    return asyncio.run(run_all(list(Fault), 1))


@pytest.mark.parametrize("fault", Fault)
def test_every_answer_ends_as_it_should(matrix, fault):
    """In every place, for every client: a right end, and the upstream is released."""
    found = [case for case in matrix.cases if case.fault is fault]

    assert len(found) == len(Reader) * sum(kind is fault for kind, _ in cases())
    assert [] == [f"{case.name}: {wrong}" for case in found for wrong in case.wrong]


def test_nothing_is_left(matrix):
    """Descriptors, tasks and objects are as many as before; the log tells of no bug."""
    assert [] == matrix.wrong
