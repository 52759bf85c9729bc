"""Round trips with the real codex: what its tools return reaches the model."""

from __future__ import annotations

import base64
import json

import pytest
from codex_upstream import Finish, call, calling, say

pytest_plugins = ["codex_fixtures"]
pytestmark = pytest.mark.integration

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    "RU5ErkJggg=="
)
PATCH = "*** Begin Patch\n*** Add File: hello.txt\n+hello “world”\n*** End Patch\n"


def test_exec_command(codex, upstream):
    """The output of a command is in the next request, after the call that it answers."""
    upstream.plays(
        calling(call("exec_command", {"cmd": "echo out of the shell"}), text="I run it."),
        say("It said: out of the shell."),
    )

    turn = codex.exec("Run it.")

    assert turn.status == 0
    assert turn.messages == ["I run it.", "It said: out of the shell."]
    (command,) = turn.items("command_execution")
    assert (command["exit_code"], command["aggregated_output"]) == (0, "out of the shell\n")
    assistant, tool = upstream.asked[1].messages[-2:]
    assert assistant["content"] == "I run it."
    assert [entry["id"] for entry in assistant["tool_calls"]] == [tool["tool_call_id"]]
    assert "out of the shell" in tool["content"]


def test_two_parallel_calls(codex, upstream):
    """Both commands run, and each output answers its call, in the order of the calls."""
    upstream.plays(
        calling(
            call("exec_command", {"cmd": "sleep 0.3; echo slow"}, 0),
            call("exec_command", {"cmd": "echo quick"}, 1),
        ),
        say("Both are done."),
    )

    turn = codex.exec("Run both.")

    assert turn.messages == ["Both are done."]
    assistant, *tools = upstream.asked[1].messages[-3:]
    ids = [entry["id"] for entry in assistant["tool_calls"]]
    assert [tool["tool_call_id"] for tool in tools] == ids
    assert [tool["content"].split()[-1] for tool in tools] == ["slow", "quick"]


def test_apply_patch_as_a_custom_tool(codex, upstream):
    """A patch in the one string of a function is a custom call to codex: a file is made."""
    upstream.plays(calling(call("apply_patch", {"input": PATCH})), say("It is there."))

    turn = codex.exec("Make hello.txt.")

    assert turn.messages == ["It is there."]
    assert (codex.folder / "hello.txt").read_text() == "hello “world”\n"
    assert [item["status"] for item in turn.items("file_change")] == ["completed"]
    assistant, tool = upstream.asked[1].messages[-2:]
    (told,) = assistant["tool_calls"]
    assert json.loads(told["function"]["arguments"]) == {"input": PATCH}
    assert "Success" in tool["content"]


def test_a_namespaced_tool(codex, upstream):
    """A tool of multi_agent_v1 is found by its flat name, and is known by it next time."""
    upstream.plays(
        calling(call("multi_agent_v1__close_agent", {"target": "nobody"})),
        say("There is nobody."),
    )

    turn = codex.exec("Close it.")

    assert turn.messages == ["There is nobody."]
    assistant, tool = upstream.asked[1].messages[-2:]
    (told,) = assistant["tool_calls"]
    assert told["function"]["name"] == "multi_agent_v1__close_agent"
    assert "unsupported call" not in tool["content"]
    assert "nobody" in tool["content"]


def test_view_image(codex, upstream):
    """An image that a tool returns in a list reaches the model as an image."""
    (codex.folder / "dot.png").write_bytes(PNG)
    upstream.plays(calling(call("view_image", {"path": "dot.png"})), say("A dot."))

    turn = codex.exec("Look at dot.png.")

    assert turn.messages == ["A dot."]
    *_, tool, shown = upstream.asked[1].messages
    assert tool["role"] == "tool"
    images = [part for part in shown["content"] if part["type"] == "image_url"]
    assert images[0]["image_url"]["url"].startswith("data:image/png;base64,")


def test_bad_arguments_come_back_to_the_model(codex, upstream):
    """A call that is no JSON runs nothing; the model is told, and may go on."""
    upstream.plays(
        calling(call("exec_command", '{"cmd": "touch made"')), say("I see my mistake.")
    )

    turn = codex.exec("Try.")

    assert turn.messages == ["I see my mistake."]
    assert not (codex.folder / "made").exists()
    assert "failed to parse" in upstream.asked[1].messages[-1]["content"]


def test_resume(codex, upstream):
    """A thread that is taken up again has all that was said, thoughts too, once."""
    upstream.plays(
        say("My name is Tiny.", reasoning="They ask for my name."), say("As I said: Tiny.")
    )

    first = codex.exec("What is your name?")
    second = codex.exec("Again, please.", "resume", first.thread)

    assert second.messages == ["As I said: Tiny."]
    (assistant,) = upstream.asked[1].said("assistant")
    assert assistant["content"] == "My name is Tiny."
    assert assistant["reasoning"] == "They ask for my name."
    assert upstream.asked[1].messages[-1]["content"] == "Again, please."


def test_compaction(served, codex_for, upstream):
    """Usage decides when codex compacts; the summary then stands for the history."""
    full = {"prompt_tokens": 9500, "completion_tokens": 10, "total_tokens": 9510}
    upstream.plays(
        [*calling(call("exec_command", {"cmd": "echo early"}))[:-1]]
        + [Finish("tool_calls", full)],
        say("SUMMARY: echo early was run."),
        say("Done."),
    )
    codex = codex_for(served(), "--context-window", "10000")

    turn = codex.exec("Run it.")

    assert turn.messages == ["Done."]
    _, compacting, after = upstream.asked
    assert "tools" not in compacting.body
    assert "early" in json.dumps(compacting.said("tool"))
    assert after.said("tool") == []
    assert "SUMMARY: echo early was run." in json.dumps(after.said("user"))


def test_output_schema(codex, upstream):
    """The schema for the answer reaches the model as response_format."""
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    (codex.home / "schema.json").write_text(json.dumps(schema))
    upstream.plays(say('{"answer": "yes"}'))

    turn = codex.exec("Yes or no?", "--output-schema", str(codex.home / "schema.json"))

    assert turn.messages == ['{"answer": "yes"}']
    asked = upstream.asked[0].body["response_format"]
    assert asked["type"] == "json_schema"
    assert asked["json_schema"]["schema"] == schema
    assert asked["json_schema"]["strict"] is True


@pytest.mark.parametrize("reasoning", ["text", "summary", "both"])
def test_reasoning_comes_back_once(served, codex_for, upstream, reasoning):
    """Whatever thoughts go out as, the model gets them back, and not twice."""
    upstream.plays(
        calling(call("exec_command", {"cmd": "true"}), reasoning="I think so."),
        say("Done."),
    )
    codex = codex_for(served("--reasoning", reasoning))

    turn = codex.exec("Hello")

    assert turn.messages == ["Done."]
    (assistant,) = upstream.asked[1].said("assistant")
    assert assistant["reasoning"] == "I think so."
    shown = [item["text"] for item in turn.items("reasoning")]
    assert shown == ([] if reasoning == "text" else ["I think so."])
