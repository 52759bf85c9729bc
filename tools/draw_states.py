"""Prints the tables of state.py as diagrams, into README.md between its markers.

    python tools/draw_states.py            writes the README
    python tools/draw_states.py --check    exit status 1 if it is stale

No arc is drawn by hand. A transition that cannot be drawn from a table is in the wrong
place.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from responses_stream import state

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- states: begin -->", "<!-- states: end -->"

DIAGRAMS: Mapping[str, state.Table[Any]] = {
    "The response": state.RESPONSE,
    'What a model says (`order="strict"`)': state.STRICT,
    "A message": state.MESSAGE,
    "Its text": state.OUTPUT_TEXT,
    "Reasoning": state.REASONING_ITEM,
    "A function call": state.FUNCTION_CALL,
}


def diagram(table: state.Table[Any]) -> str:
    """A table as Mermaid: events with the same end share an arc."""
    lines = ["stateDiagram-v2", f"    [*] --> {next(iter(table)).name}"]
    for here, exits in table.items():
        arcs: dict[str, list[str]] = {}
        for event, there in exits.items():
            arcs.setdefault(there.name, []).append(event.removeprefix("response."))
        lines += (
            f"    {here.name} --> {there}: {', '.join(events)}"
            for there, events in arcs.items()
        )
        if not exits:
            lines.append(f"    {here.name} --> [*]")
    return "\n".join(lines)


def section() -> str:
    """All diagrams, as they stand in the README."""
    return "\n\n".join(
        f"**{title}**\n\n```mermaid\n{diagram(table)}\n```"
        for title, table in DIAGRAMS.items()
    )


def with_section(text: str) -> str:
    """`text` with the diagrams between its markers."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{section()}\n\n{END}{tail}"


def main() -> int:
    """Writes or checks the README."""
    text = README.read_text()
    fresh = with_section(text)
    if "--check" in sys.argv[1:]:
        return int(text != fresh)
    README.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
