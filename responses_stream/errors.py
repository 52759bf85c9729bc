"""Whose fault a broken rule is.

    ProtocolError          never raised itself
    ├── LocalProtocolError     our caller's: a delta after the end, or in the wrong phase
    └── RemoteProtocolError    a peer's: bytes or events that the protocol does not allow

Nothing else leaves the machines of this package: any other exception is a bug.
"""

from __future__ import annotations


class ProtocolError(Exception):
    """What happened is not in the grammar. Its message says what would have been."""


class LocalProtocolError(ProtocolError):
    """The caller gave what is not legal here. The machine is as it was before."""


class RemoteProtocolError(ProtocolError):
    """The peer sent what is not legal here."""
