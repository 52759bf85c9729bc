"""What `responses-stream codex-config` prints and writes."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from click.testing import CliRunner

from responses_stream.codex_command import codex_config_command
from responses_stream.codex_config import codex_catalog, codex_config, context_window

REQUIRED = {
    "slug",
    "display_name",
    "supported_reasoning_levels",
    "shell_type",
    "visibility",
    "supported_in_api",
    "priority",
    "base_instructions",
    "support_verbosity",
    "truncation_policy",
    "experimental_supported_tools",
}
"""codex.md section 2: without one of these codex refuses the catalog."""

NOWHERE = "http://127.0.0.1:9/v1"


@contextmanager
def listing(models: object) -> Iterator[str]:
    """A server that lists models; gives its base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps({"object": "list", "data": models}).encode())

        def log_message(self, *_args: object) -> None:
            """Nobody reads it."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def run(*arguments, **options):
    """What the command does."""
    return CliRunner().invoke(codex_config_command, arguments, **options)


def test_a_server_that_is_there(tmp_path):
    """The first model is used, the catalog has all of them, with their sizes."""
    path = tmp_path / "new" / "catalog.json"
    models = [{"id": "org/qwen", "max_model_len": 40960}, {"id": "other"}]

    with listing(models) as base_url:
        result = run("--base-url", base_url, "--catalog", str(path))

    assert result.exit_code == 0
    assert result.stderr == ""
    config = tomllib.loads(result.stdout)
    assert config["model"] == "org/qwen"
    assert str(path) == config["model_catalog_json"]
    assert base_url == config["model_providers"][config["model_provider"]]["base_url"]
    catalog = json.loads(path.read_text())
    assert [entry["slug"] for entry in catalog["models"]] == ["org/qwen", "other"]
    assert catalog["models"][0]["context_window"] == 40960


def test_a_model_and_its_size_can_be_told(tmp_path):
    """With a model told, the server need not run; the chosen model stands first."""
    path = tmp_path / "catalog.json"
    told = ("--model", "tiny", "--context-window", "4096", "--catalog", str(path))

    with listing([{"id": "big", "max_model_len": 9}, {"id": "tiny"}]) as base_url:
        asked = run("--base-url", base_url, *told)
    there = json.loads(path.read_text())["models"]
    alone = run("--base-url", NOWHERE, *told)
    away = json.loads(path.read_text())["models"]

    assert (asked.exit_code, alone.exit_code) == (0, 0)
    assert [(entry["slug"], entry["context_window"]) for entry in there] == [
        ("tiny", 4096),
        ("big", 9),
    ]
    assert [there[0]] == away


def test_the_catalog_goes_to_the_folder_of_codex(tmp_path):
    """Without --catalog it stands beside codex's own files."""
    result = run("--model", "m", "--base-url", NOWHERE, env={"CODEX_HOME": str(tmp_path)})

    path = tmp_path / "responses_stream.catalog.json"
    assert str(path) == tomllib.loads(result.stdout)["model_catalog_json"]
    assert path.exists()


def test_a_size_that_nobody_says(tmp_path):
    """The user is told how to say it, and codex is told none."""
    path = tmp_path / "catalog.json"

    result = run("--model", "m", "--base-url", NOWHERE, "--catalog", str(path))

    assert "--context-window" in result.stderr
    assert "context_window" not in json.loads(path.read_text())["models"][0]


def test_no_model_to_be_found(tmp_path):
    """Neither told nor listed: exit status 2, and a word on what to do."""
    path = tmp_path / "catalog.json"
    catalog = ("--catalog", str(path))

    with listing([]) as base_url:
        empty = run("--base-url", base_url, *catalog)
    away = run("--base-url", NOWHERE, *catalog)

    assert (empty.exit_code, away.exit_code) == (2, 2)
    assert "--model" in empty.stderr
    assert "--model" in away.stderr
    assert not path.exists()


def test_a_catalog_that_cannot_be_written(tmp_path):
    """Exit status 2, with the path and the reason."""
    path = tmp_path / "file" / "catalog.json"
    path.parent.write_text("")

    result = run("--model", "m", "--base-url", NOWHERE, "--catalog", str(path))

    assert result.exit_code == 2
    assert str(path) in result.stderr


def test_entries_have_what_codex_requires():
    """Codex drops the whole catalog for one field that is missing."""
    (entry,) = codex_catalog([{"id": "m"}])["models"]

    assert set() == REQUIRED - set(entry)
    assert entry["apply_patch_tool_type"] == "freeform"
    assert "apply_patch" in entry["base_instructions"]


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"max_model_len": 1}, 1),
        ({"context_length": 2}, 2),
        ({"meta": {"n_ctx_train": 3}}, 3),
        ({"meta": {"n_ctx": 4, "n_ctx_train": 3}}, 4),
        ({"meta": None, "max_model_len": None}, None),
        ({"max_model_len": True}, None),
        ({}, None),
    ],
)
def test_servers_say_the_context_in_many_ways(entry, window):
    """What is no integer is no size."""
    assert window == context_window(entry)


@pytest.mark.parametrize("text", ['a "b"', "C:\\models\\x", "tab\there", "ü 👋", "\x7f"])
def test_any_name_is_a_toml_string(text):
    """Names and paths come out of the file as they went in."""
    config = tomllib.loads(codex_config(text, text, text, text))

    assert text == config["model"]
    assert text == config["model_catalog_json"]
    assert text == config["model_providers"]["responses_stream"]["env_key"]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (None, ["text", "image"]),
        (["text"], ["text"]),
        (["text", "image", "audio"], ["text", "image"]),
    ],
)
def test_what_a_model_takes(told, expected):
    """What the server says, as far as codex knows of it; else images too."""
    (entry,) = codex_catalog([{"id": "m", "input_modalities": told}])["models"]

    assert expected == entry["input_modalities"]


def test_a_model_without_images(tmp_path):
    """With --text-only codex will send none."""
    path = tmp_path / "catalog.json"

    result = run(
        "--base-url", NOWHERE, "--model", "m", "--text-only", "--catalog", str(path)
    )

    assert result.exit_code == 0
    assert ["text"] == json.loads(path.read_text())["models"][0]["input_modalities"]
