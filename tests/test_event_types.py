"""The keys of every event type, held against openai's own types."""

from __future__ import annotations

from typing import Any, get_origin

import pytest
from pydantic import BaseModel

from responses_stream.event_types import FIELDS, SHAPES, misshapen
from responses_stream.wire import openai_models

OPENRESPONSES = {"response.reasoning.delta", "response.reasoning.done"}


def json_type(annotation: Any) -> type:
    """The Python type of the JSON that a pydantic annotation wants."""
    origin = get_origin(annotation) or annotation
    if origin is list or (isinstance(origin, type) and not issubclass(origin, BaseModel)):
        return origin
    return dict  # A model, or a union of models.


def test_the_types_are_those_of_the_installed_client():
    """And the two names of Open Responses."""
    assert set(FIELDS) == set(openai_models()) | OPENRESPONSES


@pytest.mark.parametrize(("type_", "model"), openai_models().items())
def test_the_required_keys_are_those_of_the_installed_client(type_, model):
    """No more and no fewer."""
    required = {name for name, field in model.model_fields.items() if field.is_required()}

    assert {"type", "sequence_number", *FIELDS[type_]} == required | {"sequence_number"}


@pytest.mark.parametrize(("type_", "model"), openai_models().items())
def test_the_shapes_are_those_of_the_installed_client(type_, model):
    """A value of the type that pydantic wants fits, and no value of another does."""
    values = {str: "a", int: 1, list: [], dict: {}}

    for key in FIELDS[type_]:
        wanted = json_type(model.model_fields[key].annotation)
        fitting = {t for t, value in values.items() if not misshapen(type_, key, value)}
        assert {wanted} == fitting, key


def test_every_key_has_a_shape():
    """A key without one would never be judged."""
    keys = {key for fields in FIELDS.values() for key in fields} | {"sequence_number"}

    assert set(SHAPES) == keys


@pytest.mark.parametrize("key", SHAPES)
@pytest.mark.parametrize("value", [None, 1.5])
def test_null_and_fractions_never_fit(key, value):
    """The message says what was expected."""
    assert SHAPES[key][1] == misshapen("response.created", key, value)


def test_true_is_no_integer():
    """Python says it is; JSON does not."""
    assert "an integer" == misshapen("response.created", "sequence_number", True)  # noqa: FBT003
