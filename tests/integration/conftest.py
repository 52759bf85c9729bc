"""Fixtures for tests with other people's programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
import servers


@pytest.fixture(scope="module", name="gateway")
def _gateway(tmp_path_factory) -> Iterator[Callable[..., str]]:
    """Starts a gateway with the options it is given, and gives its base URL.

    Tests of one file share the gateways whose options are equal.
    """
    with ExitStack() as stack:

        @cache
        def start(*options: str) -> str:
            log = tmp_path_factory.mktemp("gateway") / "log"
            return stack.enter_context(servers.gateway(log, *options))

        yield start
