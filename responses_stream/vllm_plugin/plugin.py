"""What vLLM's plugin loader finds.

vLLM 0.28 and later loads `vllm.endpoint_plugins`: routes when the application is built,
state when the engine is up. Earlier versions have `vllm.general_plugins` only, which runs
before both; there the same two steps are hung onto vLLM's own functions.

Whatever is not as expected leaves vLLM's own path in place, with one warning: a server must
not fail to start, and no request fail, because of this plugin.
"""

from __future__ import annotations

import functools
import os
from importlib import import_module
from typing import Any, Final

from .failures import Edge
from .routes import ROUTER_MODULE, attach
from .seam import log, unlike
from .serving import Serving
from .settings import Settings, read_settings

NAME: Final = "responses_stream"
SERVING_MODULE: Final = "vllm.entrypoints.openai.responses.serving"
SERVING_CLASS: Final = "OpenAIServingResponses"


class EndpointPlugin:
    """vLLM's `EndpointPlugin` protocol."""

    name = NAME
    required_tasks = ("generate",)

    def __init__(self) -> None:
        self._app: Any = None
        """The application, once our routes are in it."""

    def attach_router(self, app: Any) -> None:
        """Puts our routes in. Until the serving object is ours, they pass all on."""
        try:
            self._app = app if attach(app) else None
        except Exception:  # noqa: BLE001 - then vLLM's own routes serve
            log.warning("the routes could not be replaced; vLLM's stay", exc_info=True)

    async def init_state(self, engine_client: Any, state: Any, args: Any) -> None:  # noqa: ARG002
        """Takes over the serving object, if all is as expected."""
        self.install(getattr(state, "openai_serving_responses", None))

    def install(self, core: Any) -> None:
        """See init_state; for a server whose application is not running yet."""
        if self._app is None or core is None:
            return
        settings = read_settings()
        try:
            if install(core, settings):
                # Outside of vLLM's authentication too. vLLM has built the stack already
                # where SageMaker's standards are installed.
                stack = self._app.middleware_stack or self._app.build_middleware_stack()
                self._app.middleware_stack = Edge(stack, settings.dialect)
        except Exception:  # noqa: BLE001 - see the module
            log.warning("vLLM could not be taken over; its own path stays", exc_info=True)


def endpoint_plugin() -> EndpointPlugin:
    """The entry point in `vllm.endpoint_plugins`."""
    return EndpointPlugin()


def general_plugin() -> None:
    """The entry point in `vllm.general_plugins`: nothing, where vLLM has the other group.

    vLLM loads this group unasked, so it also does nothing unless VLLM_PLUGINS names us.
    """
    if NAME not in os.environ.get("VLLM_PLUGINS", "").split(","):
        return
    try:
        if not hasattr(import_module("vllm.plugins"), "load_endpoint_plugins"):
            hang_on(import_module(ROUTER_MODULE), import_module(SERVING_MODULE))
    except Exception:  # noqa: BLE001 - vLLM would not start
        log.warning("this vLLM is not as expected; its own path stays", exc_info=True)


def hang_on(router_module: Any, serving_module: Any) -> None:
    """Does the plugin's two steps behind vLLM's own. Once, however often it is called."""
    plugin = EndpointPlugin()
    serving_class = getattr(serving_module, SERVING_CLASS)
    attach_core, init_core = router_module.attach_router, serving_class.__init__
    if hasattr(attach_core, "__wrapped__"):
        return

    @functools.wraps(attach_core)
    def attach_router(app: Any) -> None:
        attach_core(app)
        plugin.attach_router(app)

    @functools.wraps(init_core)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        init_core(self, *args, **kwargs)
        plugin.install(self)

    router_module.attach_router = attach_router
    serving_class.__init__ = init


def install(core: Any, settings: Settings) -> bool:
    """Takes over vLLM's serving object. Whether it was as expected."""
    if getattr(core, "use_harmony", False):
        log.warning("gpt-oss (harmony) models are served by vLLM's own path")
        return False
    found = [*unlike(core)]
    if os.environ.get("VLLM_USE_EXPERIMENTAL_PARSER_CONTEXT", "0") not in ("", "0"):
        found.append("VLLM_USE_EXPERIMENTAL_PARSER_CONTEXT is set")
    if found:
        log.warning(
            "this vLLM is not as expected, and serves /v1/responses by itself: %s",
            "; ".join(found),
        )
        return False
    Serving(core, settings).install()
    log.info("/v1/responses is served by responses_stream")
    return True
