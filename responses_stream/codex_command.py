"""`responses-stream codex-config`: tells codex of a server and of its models."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from .codex_config import codex_catalog, codex_config, context_window

CATALOG: Final = "responses_stream.catalog.json"

PATIENCE: Final = 5.0
"""How many seconds the server has to list its models."""

Models = list[dict[str, Any]]


@click.command("codex-config")
@click.option(
    "--base-url",
    metavar="URL",
    default="http://127.0.0.1:8080/v1",
    show_default=True,
    help="Where the server is.",
)
@click.option("--model", help="Which model to use; else the first that the server lists.")
@click.option(
    "--context-window",
    "window",
    metavar="TOKENS",
    type=click.IntRange(min=1),
    help="How much that model takes; else what the server says.",
)
@click.option(
    "--text-only",
    is_flag=True,
    help="The model takes no images, and its server refuses a request with one: codex"
    " then sends none, whatever the user pastes or view_image is asked for.",
)
@click.option(
    "--catalog",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Where to write the model catalog; else {CATALOG} in codex's own folder.",
)
@click.option(
    "--api-key-env",
    "key_variable",
    metavar="NAME",
    help="Environment variable with the server's API key, if it wants one.",
)
def codex_config_command(  # noqa: PLR0913 - one for each option
    *,
    base_url: str,
    model: str | None,
    window: int | None,
    text_only: bool,
    catalog: Path | None,
    key_variable: str | None,
) -> None:
    r"""Print a config.toml for codex, and write the model catalog that it names.

    \b
      responses-stream codex-config > ~/.codex/local.config.toml
      codex -p local
    """
    catalog = (catalog or _codex_folder() / CATALOG).absolute()
    models = _listed(base_url, key_variable, needed=model is None)
    model = model or models[0]["id"]
    chosen = next((entry for entry in models if entry["id"] == model), {"id": model})
    if window is not None:
        chosen = {**chosen, "context_window": window}
    if text_only:
        chosen = {**chosen, "input_modalities": ["text"]}
    others = [entry for entry in models if entry["id"] != model]
    _write(catalog, codex_catalog([chosen, *others]))
    if context_window(chosen) is None:
        click.echo(
            f"Nobody says how many tokens {model} takes, so codex will never compact a"
            " conversation; --context-window tells it.",
            err=True,
        )
    click.echo(codex_config(model, base_url, str(catalog), key_variable), nl=False)


def _codex_folder() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def _listed(base_url: str, key_variable: str | None, *, needed: bool) -> Models:
    """The models of the server; none if it does not answer and they are not needed."""
    # It takes a while to load, and `--help` goes without.
    from openai import OpenAI, OpenAIError  # noqa: PLC0415

    key = os.environ.get(key_variable or "") or "none"
    try:
        with OpenAI(
            base_url=base_url, api_key=key, timeout=PATIENCE, max_retries=0
        ) as client:
            models = [model.model_dump() for model in client.models.list().data]
    except OpenAIError as error:
        if needed:
            raise CouldNotRun(f"{base_url}/models: {error}; or tell --model") from error
        return []
    if needed and not models:
        raise CouldNotRun(f"{base_url}/models lists no model; tell --model")
    return models


def _write(path: Path, catalog: Mapping[str, Iterable[object]]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(catalog, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise CouldNotRun(f"{path}: {error.strerror}") from error


class CouldNotRun(click.ClickException):
    """Nothing was written."""

    exit_code = 2
