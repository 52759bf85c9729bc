"""Round trips with the real codex before every backend: what tools return is told."""

from __future__ import annotations

import base64
import json

import pytest
from codex_model import USAGE, call, calling, say
from codex_wire import VLLM_BACKENDS

pytest_plugins = ["codex_fixtures"]
pytestmark = pytest.mark.integration

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    "RU5ErkJggg=="
)
PATCH = "*** Begin Patch\n*** Add File: hello.txt\n+hello “world”\n*** End Patch\n"
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


@pytest.fixture(name="codex")
def _codex(backend, codex_for):
    """codex, in front of each backend."""
    return codex_for(backend.url)


def test_the_configuration(codex, model):
    """codex takes what `codex-config` says without a warning, and asks once."""
    model.plays(say("Hi."))

    turn = codex.exec("Hello")

    assert (turn.messages, turn.retries, turn.warnings) == (["Hi."], [], [])
    assert len(model.told) == 1


def test_websockets_are_declined(codex, model):
    """codex that tries them goes on without at once, and without a warning."""
    model.plays(say("Hi."))
    codex.settings["model_providers.responses_stream.supports_websockets"] = True

    turn = codex.exec("Hello")

    assert (turn.messages, turn.retries, turn.items("error")) == (["Hi."], [], [])
    assert turn.stderr.count("failed to connect to Responses WebSocket") == 1


def test_exec_command(codex, model):
    """The output of a command is in the next request, after the call that it answers."""
    model.plays(
        calling(call("exec_command", {"cmd": "echo out of the shell"}), text="I run it."),
        say("It said: out of the shell."),
    )

    turn = codex.exec("Run it.")

    assert turn.status == 0
    assert turn.messages == ["I run it.", "It said: out of the shell."]
    (command,) = turn.items("command_execution")
    assert (command["exit_code"], command["aggregated_output"]) == (0, "out of the shell\n")
    first, second = model.told
    assert second[: len(first)] == first
    assistant, tool = second[len(first) :]
    assert (assistant.role, tool.role) == ("assistant", "tool")
    assert "I run it." in assistant.text
    assert '{"cmd": "echo out of the shell"}' in assistant.text
    assert tool.text.endswith("out of the shell\n")


def run_both(codex, model, first, second):
    """A turn in which the model calls two commands at once."""
    model.plays(
        calling(
            call("exec_command", {"cmd": first}, 0),
            call("exec_command", {"cmd": second}, 1),
        ),
        say("Both are done."),
    )
    return codex.exec("Run both.")


def test_two_parallel_calls(codex, model):
    """Both commands run, and each output answers its call, in the order of the calls."""
    turn = run_both(codex, model, "sleep 0.3; echo slow", "echo quick")

    assert turn.messages == ["Both are done."]
    assert len(turn.items("command_execution")) == 2
    assistant, *tools = model.told[1][-3:]
    assert assistant.text.index("echo slow") < assistant.text.index("echo quick")
    assert [tool.text.split()[-1] for tool in tools] == ["slow", "quick"]


@pytest.mark.parametrize("backend", ["upstream"], indirect=True)
def test_outputs_have_the_ids_of_their_calls(codex, model):
    """A chat server, whose template may show them, gets them as it has made them."""
    run_both(codex, model, "echo one", "echo two")

    assistant, *tools = model.asked[1].messages[-3:]
    ids = ["call_exec_command_0", "call_exec_command_1"]
    assert [entry["id"] for entry in assistant["tool_calls"]] == ids
    assert [tool["tool_call_id"] for tool in tools] == ids


def test_apply_patch_as_a_custom_tool(codex, model):
    """A patch in the one string of a function is a custom call to codex: a file is made."""
    model.plays(calling(call("apply_patch", {"input": PATCH})), say("It is there."))

    turn = codex.exec("Make hello.txt.")

    assert turn.messages == ["It is there."]
    assert (codex.folder / "hello.txt").read_text() == "hello “world”\n"
    assert [item["status"] for item in turn.items("file_change")] == ["completed"]
    assistant, tool = model.told[1][-2:]
    assert json.dumps({"input": PATCH}, ensure_ascii=False) in assistant.text
    assert "Success" in tool.text


def test_a_namespaced_tool(codex, model):
    """A tool of multi_agent_v1 is found by its flat name, and is known by it next time."""
    model.plays(
        calling(call("multi_agent_v1__close_agent", {"target": "nobody"})),
        say("There is nobody."),
    )

    turn = codex.exec("Close it.")

    assert turn.messages == ["There is nobody."]
    assistant, tool = model.told[1][-2:]
    assert '"multi_agent_v1__close_agent"' in assistant.text
    assert "unsupported call" not in tool.text
    assert "nobody" in tool.text


def test_view_image(codex, model):
    """An image that a tool returns in a list reaches the model as an image."""
    (codex.folder / "dot.png").write_bytes(PNG)
    model.plays(calling(call("view_image", {"path": "dot.png"})), say("A dot."))

    turn = codex.exec("Look at dot.png.")

    assert turn.messages == ["A dot."]
    assert [told.has_image for told in model.told] == [False, True]


def test_a_model_that_takes_no_images(codex_for, backend, model):
    """With --text-only it gets none, neither from the user nor from view_image."""
    blind = codex_for(backend.url, "--text-only")
    (blind.folder / "dot.png").write_bytes(PNG)
    model.plays(calling(call("view_image", {"path": "dot.png"})), say("I cannot see it."))

    turn = blind.exec("Look at it.", "--image=dot.png")

    assert turn.messages == ["I cannot see it."]
    assert "view_image is not allowed" in model.told[1][-1].text
    assert [told.has_image for told in model.told] == [False, False]


@pytest.mark.parametrize(
    ("backend", "arguments"),
    [
        *(
            pytest.param(name, '{"cmd": ["touch made"]}', id=f"{name}-not the schema's")
            for name in ("upstream", *VLLM_BACKENDS)
        ),
        # vLLM's parser closes what the model has left open.
        pytest.param("upstream", '{"cmd": "touch made"', id="upstream-no JSON"),
    ],
    indirect=["backend"],
)
def test_bad_arguments_come_back_to_the_model(codex, model, arguments):
    """A call that codex cannot read runs nothing; the model is told, and may go on."""
    model.plays(calling(call("exec_command", arguments)), say("I see my mistake."))

    turn = codex.exec("Try.")

    assert turn.messages == ["I see my mistake."]
    assert not (codex.folder / "made").exists()
    assert "failed to parse" in model.told[1][-1].text


def test_resume(codex, model):
    """A thread that is taken up again has all that was said, thoughts too, once."""
    model.plays(
        say("My name is Tiny.", reasoning="They ask for my name."), say("As I said: Tiny.")
    )

    first = codex.exec("What is your name?")
    second = codex.exec("Again, please.", "resume", first.thread)

    assert second.messages == ["As I said: Tiny."]
    assert second.thread == first.thread
    (assistant,) = model.told[1].said("assistant")
    assert assistant.count("My name is Tiny.") == 1
    assert assistant.count("They ask for my name.") == 1
    assert model.told[1][-1] == ("user", "Again, please.")


def test_compaction(codex, codex_for, backend, model):
    """Usage decides when codex compacts; the summary then stands for the history."""
    full = {**USAGE, "prompt_tokens": 9500, "total_tokens": 9510}
    first = calling(call("exec_command", {"cmd": "echo early"}), usage=full)
    model.plays(say("Hi.", usage=full), first, say("SUMMARY: it is early."), say("Done."))
    used = codex.exec("Hello").events[-1]["usage"]["input_tokens"]
    narrow = codex_for(backend.url, "--context-window", str(used + 200))

    turn = narrow.exec("Run it.")

    assert turn.messages == ["Done."]
    _, before, compacting, after = model.told
    assert "early" in "".join(compacting.said("tool"))
    assert len(compacting.said("user")) == len(before.said("user")) + 1
    assert after.said("tool") == []
    assert "SUMMARY: it is early." in "".join(after.said("user"))


def test_output_schema(codex, model):
    """The answer fits the schema, which has reached the server."""
    (codex.home / "schema.json").write_text(json.dumps(SCHEMA))
    model.plays(say('{"answer": "yes"}', reasoning="Yes."))

    turn = codex.exec("Yes or no?", "--output-schema", str(codex.home / "schema.json"))

    assert turn.messages == ['{"answer": "yes"}']
