"""Chat completions and the Responses API, each in the other's words. No I/O here."""
