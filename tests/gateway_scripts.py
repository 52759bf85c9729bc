"""What chat servers send: one named script for each way to be right or wrong."""

from __future__ import annotations

from gateway_frames import Script
from gateway_scripts_calls import CALLS
from gateway_scripts_content import CONTENT, THOUGHTS
from gateway_scripts_failures import FAILURES, REFUSALS
from gateway_scripts_framing import FRAMINGS, ROLES_AND_USAGE

STREAMED: dict[str, Script] = {
    **FRAMINGS,
    **ROLES_AND_USAGE,
    **THOUGHTS,
    **CALLS,
    **CONTENT,
    **FAILURES,
}
"""The scripts that a gateway answers with a stream."""

SCRIPTS: dict[str, Script] = {**STREAMED, **REFUSALS}
