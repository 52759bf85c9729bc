"""The plots. The same figures make the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from .results import InProcess
from .variants import VARIANTS

COLOURS: Final = {"ours": "#1a7f5a", "peer": "#8a8f98", "limit": "#c9a227"}

plt.rcParams.update(
    {
        "svg.hashsalt": "responses_stream",
        "svg.fonttype": "none",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)


def draw(found: InProcess, folder: Path) -> None:
    """Writes them all."""
    _draw_peers(found, folder / "peers.svg")
    _draw_growth(found, folder / "growth.svg")


def _draw_peers(found: InProcess, path: Path) -> None:
    names = sorted(found.micros, key=lambda name: found.micros[name], reverse=True)
    figure, axes = plt.subplots(figsize=(8, 0.4 * len(names) + 0.8))
    bars = axes.barh(
        [VARIANTS[name].title.replace("`", "") for name in names],
        [found.micros[name] for name in names],
        color=[COLOURS[VARIANTS[name].kind] for name in names],
    )
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.set_xscale("log")
    axes.set_xlabel("µs of CPU per delta (logarithmic)")
    axes.margins(x=0.15)
    _save(figure, path)


def _draw_growth(found: InProcess, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(8, 4))
    for kind, costs in found.growth.items():
        colour = COLOURS["peer"] if "vLLM" in kind else None
        axes.plot(list(costs), list(costs.values()), "o-", label=kind, color=colour)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("deltas in one item")
    axes.set_ylabel("µs of CPU per delta")
    axes.legend(frameon=False)
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
