"""The ways to answer POST /v1/chat/completions: aligned to what OpenAI sends."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.types import Send

from responses_stream.chat.alignment import ChatAligner
from responses_stream.chat.failures import Failure
from responses_stream.chat.whole import ChatFolder

from .answers import RelayedAnswer, StreamedAnswer
from .refusals import Refused
from .settings import Settings
from .upstream import Question


class ChatWholeAnswer(RelayedAnswer[bytes]):
    """Answers POST /v1/chat/completions with the completion of the chat server."""

    def __init__(self, question: Question, settings: Settings) -> None:
        self.folder = ChatFolder(settings.answer)
        super().__init__(question, self.folder, settings)

    async def answer(self, send: Send) -> Response:  # noqa: ARG002  (returned whole)
        """See Answer."""
        try:
            await self.relay()
        except Refused as refused:
            return self.refuse(refused)
        whole = self.folder.completion()
        return self.refusal(whole) if isinstance(whole, Failure) else self.whole(whole)


class ChatStreamAnswer(StreamedAnswer):
    """Answers POST /v1/chat/completions with the stream of the chat server, aligned."""

    def __init__(
        self, question: Question, request: dict[str, Any], settings: Settings
    ) -> None:
        options = request.get("stream_options")
        options = options if isinstance(options, dict) else {}
        aligner = ChatAligner(
            wants_usage=options.get("include_usage") is True,
            wants_usage_always=options.get("continuous_usage_stats") is True,
            limits=settings.answer,
        )
        super().__init__(question, aligner, settings)
