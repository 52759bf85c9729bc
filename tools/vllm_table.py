"""What vLLM's own `/v1/responses` sends, and what the plugin makes of it: a table.

    RESPONSES_STREAM_VLLM_PYTHON=... RESPONSES_STREAM_VLLM_MODEL=... \
        python tools/vllm_table.py

The same requests go to a server without the plugin and to one with it, one after the other
(tests/integration/vllm_server.py says what it needs). Each row is a wart of vllm.md; its
cell is what was seen, and begins with `ok` where nothing is wrong. The exit status is 1 if
a row of ours is not ok.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "integration")]

from vllm_endless import endless_in_background  # noqa: E402
from vllm_requests import BACKGROUND, CASES, without_ids  # noqa: E402
from vllm_server import (  # noqa: E402
    CORE,
    PLUGIN,
    SERVERS,
    WITH_KEY,
    Answer,
    Server,
    wait_until,
)

Row = Callable[[Server], str]
"""What a server does in one case, in a few words."""

ROWS: dict[str, Row] = {}


def row(name: str) -> Callable[[Row], Row]:
    """Puts a row into the table."""

    def put(look: Row) -> Row:
        ROWS[name] = look
        return look

    return put


def ok(is_right: object, seen: str) -> str:
    """A cell."""
    return f"ok: {seen}" if is_right else seen


def end_of(answer: Answer) -> str:
    """How a transcript ends, in the words of the wire."""
    if answer.cut or not answer.events:
        return f"cut after {len(answer.events)} events"
    last = answer.events[-1]
    if "response" not in last:
        return str(last["type"])
    error = last["response"].get("error")
    said = f" ({error['code']})" if error else ""
    return f"{last['type']}, status {last['response']['status']}{said}"


def found_in(answer: Answer) -> str:
    """The rules that a transcript breaks, each once."""
    rules = (finding.violation.rule for finding in answer.recording.findings)
    return ", ".join(dict.fromkeys(rules)) or "nothing found"


def ending(server: Server, case: str, word: str) -> str:
    """How the answer to a case ends; `word` stands in the right end."""
    end = end_of(server.ask(CASES[case].request))
    return ok(word in end, end)


@row("1 the engine refuses")
def refused(server: Server) -> str:
    return ending(server, "refused", "failed")


@row("4 cut by max_output_tokens")
def cut(server: Server) -> str:
    return ending(server, "cut_text", "response.incomplete")


@row("5 cut inside a call")
def cut_call(server: Server) -> str:
    item = server.ask(CASES["cut_call"].request).final["output"][-1]
    seen = f"{item['type']} {item['status']}: {item['arguments']}"
    return ok(item["status"] == "incomplete", seen)


@row("6 the model leaves a call open")
def broken_call(server: Server) -> str:
    return ending(server, "broken_call", "failed")


@row("7 cancel, while somebody reads")
def cancel(server: Server) -> str:
    with server.client() as client:
        stream, response_id = endless_in_background(client, timeout=15)
        client.responses.cancel(response_id)
        try:
            *_, last = stream
        except Exception as error:  # noqa: BLE001 - that is what we want to see
            return f"the stream hangs: {type(error).__name__}"
        return ok(last.type == "response.failed", f"the stream ends with {last.type}")


@row("8 refused in the background")
def refused_in_background(server: Server) -> str:
    with server.client() as client:
        asked: Any = {"model": "tiny", "input": "hi", "timeout": 10, **BACKGROUND}
        extra = {"logit_bias": {"999999": 1}}
        try:
            *_, last = client.responses.create(stream=True, extra_body=extra, **asked)
        except Exception as error:  # noqa: BLE001
            return f"the stream hangs: {type(error).__name__}"
        status = client.responses.retrieve(last.response.id).status
        return ok(status == "failed", f"{last.type}, then GET says {status}")


@row("9 status while it runs")
def status(server: Server) -> str:
    made = server.ask(BACKGROUND, stream=False, input="endless", max_output_tokens=2000)
    path = f"/v1/responses/{made.object['id']}"
    wait_until(lambda: server.metric("num_requests_running{") > 0)
    found = server.get(path).object["status"]
    server.post(path + "/cancel")
    return ok(found == "in_progress", f"GET says {found}")


def resumed(server: Server, after: int) -> Answer:
    final = server.ask(BACKGROUND, input="emptythink").final
    return server.get(f"/v1/responses/{final['id']}?stream=true&starting_after={after}")


@row("10 starting_after beyond the end")
def beyond(server: Server) -> str:
    answer = resumed(server, 10_000)
    return "hangs" if answer.cut else ok(not answer.events, "no event, and the end")


@row("10 starting_after=-5")
def negative(server: Server) -> str:
    answer = resumed(server, -5)
    seen = f"{answer.status}, {len(answer.events)} events"
    return ok(answer.status == 400, seen)  # noqa: PLR2004


@row("11 GET stream of what had none")
def no_stream(server: Server) -> str:
    final = server.ask(input="hi").final
    answer = server.get(f"/v1/responses/{final['id']}?stream=true")
    seen = f"{answer.status}{', cut' if answer.cut else ''}"
    return ok(answer.status == 400, seen)  # noqa: PLR2004


@row("12 cancel of a finished response")
def cancel_finished(server: Server) -> str:
    final = server.ask(BACKGROUND, input="hi").final
    answer = server.post(f"/v1/responses/{final['id']}/cancel")
    return ok(answer.status == 200, str(answer.status))  # noqa: PLR2004


@row("15 an empty thought, then a call")
def white_space(server: Server) -> str:
    output = server.ask(CASES["only_a_call"].request).final["output"]
    kinds = [item["type"] for item in output]
    return ok(kinds == ["function_call"], ", ".join(kinds))


@row("17 call_id")
def call_id(server: Server) -> str:
    item = server.ask(CASES["only_a_call"].request).final["output"][-1]
    return ok(item["call_id"].startswith("call_"), item["call_id"])


@row("18 reasoning tokens, none thought")
def no_thought(server: Server) -> str:
    usage = server.ask(input="endless", max_output_tokens=50).final["usage"]
    count = usage["output_tokens_details"]["reasoning_tokens"]
    return ok(count == 0, f"{count} of {usage['output_tokens']}")


@row("18 reasoning tokens, in byte tokens")
def byte_tokens(server: Server) -> str:
    usage = server.ask(CASES["unicode"].request).final["usage"]
    count = usage["output_tokens_details"]["reasoning_tokens"]
    return ok(count == 21, f"{count}, 21 were made")  # noqa: PLR2004


@row("19 keys of the response object")
def keys(server: Server) -> str:
    answer = server.ask(CASES["text"].request)
    rules = found_in(answer)
    return ok("keys" not in rules, rules)


@row("20 keys of nobody else's")
def extra_keys(server: Server) -> str:
    final = server.ask(CASES["text"].request).final
    extra = [key for key in final if key.endswith(("_params", "_messages"))]
    return ok(not extra, ", ".join(extra) or "none")


@row("23 headers")
def headers(server: Server) -> str:
    found = server.ask(input="hi").headers
    wanted = ("cache-control", "x-accel-buffering", "x-request-id")
    missing = [name for name in wanted if name not in found]
    return ok(not missing, "no " + ", ".join(missing) if missing else "all there")


@row("24 error shape")
def errors(server: Server) -> str:
    error = server.post("/v1/responses", {"input": 5}).object["error"]
    seen = f"type {error['type']!r}, code {error['code']!r}, {len(error['message'])} chars"
    return ok(error["type"] == "invalid_request_error", seen)


@row("24 a wrong key")
def wrong_key(server: Server) -> str:
    server.key, key = "wrong", server.key
    try:
        error = server.ask(input="hi").object["error"]
    finally:
        server.key = key
    return ok(isinstance(error, dict), repr(error)[:60])


@row("streamed and whole agree")
def agree(server: Server) -> str:
    answered = unlike = 0
    for case in CASES.values():
        whole = server.ask(case.request, stream=False)
        if case.end == "failed" or whole.status != HTTPStatus.OK:
            continue
        answered += 1
        streamed = server.ask(case.request).final
        unlike += without_ids(streamed) != without_ids(whole.object)
    return ok(not unlike, f"unlike in {unlike} of {answered} answers")


@row("the checker, over all requests")
def checked(server: Server) -> str:
    rules: dict[str, int] = {}
    for case in CASES.values():
        for finding in server.ask(case.request).recording.findings:
            rule = finding.violation.rule
            rules[rule] = rules.get(rule, 0) + 1
    said = ", ".join(f"{rule} {count}" for rule, count in rules.items())
    return ok(not rules, said or "nothing found")


@row("2 the engine dies")
def engine_death(server: Server) -> str:
    seen = b""
    with server.streaming(input="endless") as response:
        while b"output_text.delta" not in seen:
            seen += response.readline()
        server.kill_engine()
        broken = False
        try:
            seen += response.read()
        except Exception:  # noqa: BLE001
            broken = True
    answer = Answer(200, {}, seen, broken)
    return ok("failed" in end_of(answer), "cut" if broken else end_of(answer))


def column(environment: dict[str, str]) -> Iterator[str]:
    """The cells of one server. The last row ends it."""
    server = SERVERS.get({**environment, **WITH_KEY})
    for name, look in ROWS.items():
        try:
            yield look(server)
        except Exception as error:  # noqa: BLE001 - a cell, too
            yield f"{type(error).__name__}: {error}"[:80]
        print(f"{environment['VLLM_PLUGINS'] or 'core'}: {name}", file=sys.stderr)
    SERVERS.stop()


def main() -> None:
    core, ours = (list(column(environment)) for environment in (CORE, PLUGIN))
    print("| wart | core vLLM | with the plugin |\n|---|---|---|")
    for name, *cells in zip(ROWS, core, ours, strict=True):
        print("|", " | ".join([name, *(cell.replace("|", "/") for cell in cells)]), "|")
    sys.exit(not all(cell.startswith("ok") for cell in ours))


if __name__ == "__main__":
    main()
