"""Options of a command in sections, each with an environment variable of its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from responses_stream.chat.limits import AnswerLimits

from .settings import Settings

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


class SectionOption(click.Option):
    """An option with a place in the help, and an environment variable of its name."""

    def __init__(self, *args: Any, section: str, **kwargs: Any) -> None:
        name = next(arg for arg in args[0] if arg.startswith("--"))
        name = name.split("/")[0].lstrip("-").replace("-", "_").upper()
        kwargs.setdefault("envvar", f"RESPONSES_STREAM_{name}")
        super().__init__(*args, **kwargs)
        self.section = section


class SectionCommand(click.Command):
    """A command whose help has its options by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Overrides click's one list."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                section = getattr(parameter, "section", "Other")
                sections.setdefault(section, []).append(row)
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl(rows)


def option(section: str, *args: str, **kwargs: Any) -> Decorator:
    """An option in a section of the help."""
    kwargs.setdefault("show_default", True)
    return click.option(*args, cls=SectionOption, section=section, **kwargs)


def limit(section: str, name: str, metavar: str, text: str) -> Decorator:
    """An option whose default, and so its type, is that of the setting of its name."""
    setting = name.lstrip("-").replace("-", "_")
    default = getattr(Settings(), setting, None) or getattr(AnswerLimits(), setting)
    is_time = isinstance(default, float)
    kind = click.FloatRange(min=0) if is_time else click.IntRange(min=1)
    return option(section, name, metavar=metavar, default=default, type=kind, help=text)
