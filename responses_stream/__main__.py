"""`python -m responses_stream` is `responses-stream`."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="responses-stream")
