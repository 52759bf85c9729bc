"""A transcript as a picture for a person: one lane for each output item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from .recorded import Recording
from .rules import ITEM_TEXT, PART_TEXT

# Widths in columns; the bar takes what is left.
EXCERPT = 32
STATUS = 11
GAPS = 13
MIN_BAR = 20
STATUS_STYLES = {
    "completed": "green",
    "incomplete": "yellow",
    "failed": "red",
    "in_progress": "yellow",
}


class Lane:
    """What one output item looks like over the sequence numbers."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        self.item = item
        self.moments: list[tuple[int, str, str]] = []
        """Where it is mentioned, and the mark for it."""


def picture(recording: Recording, name: str, width: int) -> RenderableType:
    """The lanes, the end, and what is wrong, for a terminal of `width` columns."""
    lanes = _lanes(recording)
    type_width = max(
        (len(str(lane.item.get("type"))) for lane in lanes.values()), default=4
    )
    id_width = max((len(str(lane.item.get("id"))) for lane in lanes.values()), default=2)
    columns = max(MIN_BAR, width - type_width - id_width - STATUS - EXCERPT - GAPS)
    wrong = {str(finding.violation.sequence_number) for finding in recording.findings}
    last = max(len(recording.events) - 1, 1)
    table = Table(title=Text(name), title_justify="left", box=None, padding=(0, 1))
    for heading in ("", "type", "id", "status"):
        table.add_column(heading, no_wrap=True)
    table.add_column(f"0 … {last}", no_wrap=True)
    table.add_column("text", no_wrap=True, overflow="ellipsis", max_width=EXCERPT)
    for index, lane in lanes.items():
        table.add_row(
            str(index),
            Text(str(lane.item.get("type"))),
            Text(str(lane.item.get("id"))),
            _styled(str(lane.item.get("status", "-"))),
            _bar(lane, wrong, last, columns),
            Text(_excerpt(lane.item)),
        )
    return Group(table, *_footer(recording))


def show(recording: Recording, name: str, console: Console) -> None:
    """Draws the picture."""
    console.print(picture(recording, name, console.width))


def _lanes(recording: Recording) -> dict[object, Lane]:
    lanes: dict[object, Lane] = {}
    for position, event in enumerate(recording.events):
        index = event.get("output_index")
        if not isinstance(index, int):
            continue
        item = event.get("item")
        lane = lanes.setdefault(index, Lane({}))
        if isinstance(item, dict):
            lane.item = item
        kind = str(event.get("type"))
        number = str(event.get("sequence_number"))
        lane.moments.append((position, number, _mark(kind)))
    return lanes


def _mark(kind: str) -> str:
    if kind == "response.output_item.added":
        return "┣"
    return "┫" if kind == "response.output_item.done" else "━"


def _bar(lane: Lane, wrong: set[str], last: int, columns: int) -> Text:
    """The lane's events, squeezed into `columns`; a violation is what shows of a column."""
    places = [
        (place * (columns - 1) // last, number, mark)
        for place, number, mark in lane.moments
    ]
    begin, end = places[0][0], places[-1][0]
    marks = [("━" if begin <= column <= end else " ") for column in range(columns)]
    for column, number, mark in places:
        if number in wrong:
            marks[column] = "✗"
        elif marks[column] == "━":
            marks[column] = mark
    bar = Text("".join(marks), style="cyan")
    bar.highlight_regex("✗", "bold red")
    return bar


def _excerpt(item: Mapping[str, Any]) -> str:
    parts = [
        part
        for key in ("summary", "content")
        if isinstance(item.get(key), list)
        for part in item[key]
    ]
    texts = [str(item.get("name") or "")]
    texts += (
        str(part.get(PART_TEXT.get(str(part.get("type")), "text"), ""))
        for part in parts
        if isinstance(part, dict)
    )
    texts.append(str(item.get(ITEM_TEXT.get(str(item.get("type")), ""), "")))
    return " ".join(repr("".join(texts))[1:-1].split())


def _styled(status: str) -> Text:
    return Text(status, style=STATUS_STYLES.get(status, "dim"))


def _footer(recording: Recording) -> Iterator[Text]:
    end = recording.events[-1] if recording.events else {}
    response = end.get("response")
    status = response.get("status") if isinstance(response, dict) else "no end"
    yield Text.assemble(
        f"{len(recording.events)} events, ends with {end.get('type', 'nothing')}: ",
        _styled(str(status)),
    )
    for finding in recording.findings:
        found = finding.violation
        style = "red" if found.level == "error" else "yellow"
        where = "-" if found.sequence_number is None else found.sequence_number
        yield Text(f"✗ {where} {found.rule}: {found.message}", style=style)
