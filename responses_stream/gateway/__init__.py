"""The gateway: any chat-completions server becomes a Responses server.

    responses-stream serve --upstream http://127.0.0.1:8000/v1

Everything here does I/O around the machines of the package, and is what the extra
`responses_stream[gateway]` is for.
"""
