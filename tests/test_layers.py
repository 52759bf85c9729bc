"""Imports only go down."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import responses_stream

PACKAGE = Path(responses_stream.__file__).parent

LAYERS = {
    "ground": ["errors", "ids", "code_points", "json_text"],
    "words": ["items", "usage", "wire", "events", "deltas", "event_types", "tools"],
    "grammar": ["state", "rules", "kinds", "finish_reasons"],
    "machines": [
        *("response_object", "sse", "forms", "tail", "growing_parts", "growing", "calls"),
        *("drafts", "transcript", "stream", "seen", "checker"),
    ],
    "bridges": ["delta_script", "recorded", "chat", "clients", "codex_config"],
    "skins": [
        "picture",
        "pulse",
        "gateway",
        "vllm_plugin",
        "codex_command",
        "cli",
        "__main__",
    ],
}
"""From the bottom. A module imports from lower layers, and in its own from those before."""

ORDER = [module for modules in LAYERS.values() for module in modules]


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if module != "__init__":
            yield module, path


def imported(path: Path) -> Iterator[str]:
    """The modules of the package that a file imports, by their place in the layers."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            up = len(path.relative_to(PACKAGE).parts)
            if node.level == up:
                names = [node.module] if node.module else [name.name for name in node.names]
                yield from (name.partition(".")[0] for name in names)
            elif (node.module or "").startswith("responses_stream."):
                yield (node.module or "").split(".")[1]


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=str)
def test_imports_go_down(module, path):
    """A module knows nothing of those that stand on it."""
    above = {name for name in imported(path) if ORDER.index(name) > ORDER.index(module)}

    assert set() == above


def test_every_module_has_its_layer():
    """No module stands outside the layers."""
    assert {module for module, _ in modules()} <= set(ORDER)


def test_importing_the_package_loads_no_skin():
    """What the library exports comes from the machines and below."""
    skins = set(LAYERS["skins"]) | set(LAYERS["bridges"])

    assert set() == set(imported(PACKAGE / "__init__.py")) & skins


@pytest.mark.parametrize("path", [path for _, path in modules()], ids=str)
def test_no_file_is_long(path):
    """A file of more than 350 lines is two files."""
    assert len(path.read_text().splitlines()) <= 350
