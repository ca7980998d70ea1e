"""What is left of a schema, and that answers still fit it."""

from __future__ import annotations

import jsonschema
import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pilotage.web.mcp.schemas import for_answers, for_arguments


class Leaf(BaseModel):
    """Told by its field."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    title: str
    description: str | None = None
    """A field that is called like a keyword of schemas."""


class Branch(BaseModel):
    """Holds a leaf."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    leaf: Leaf
    """The only one."""
    counts: dict[str, int] = {}


class Single(BaseModel):
    """Used in one place."""

    required: int


class Tree(BaseModel):
    """An answer."""

    branches: list[Branch]
    fallen: Leaf | None = None
    root: Branch | None = None
    single: Single | None = None


def test_answers_keep_names_types_and_field_texts() -> None:
    schema = for_answers(Tree.model_json_schema())
    branch = schema["$defs"]["Branch"]
    assert schema["required"] == ["branches"]
    assert branch["properties"]["leaf"] == {"$ref": "#/$defs/Leaf", "description": "The only one."}
    assert branch["properties"]["counts"]["additionalProperties"] == {"type": "integer"}
    assert set(schema["$defs"]["Leaf"]["properties"]) == {"title", "description"}
    assert schema["$defs"]["Leaf"]["properties"]["description"]["type"] == "string"


def test_a_model_of_one_place_is_written_there() -> None:
    schema = for_answers(Tree.model_json_schema())
    assert set(schema["$defs"]) == {"Branch", "Leaf"}
    assert schema["properties"]["single"] == {
        "properties": {"required": {"type": "integer"}},
        "type": "object",
    }


def test_what_the_model_writes_fits_and_what_it_cannot_be_does_not() -> None:
    schema = for_answers(Tree.model_json_schema())
    told = Tree(branches=[Branch(leaf=Leaf(title="a"))], single=Single(required=1))
    jsonschema.validate(told.model_dump(mode="json", exclude_none=True), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"branches": [{"leaf": {"title": 1}}]}, schema)


def test_arguments_are_absent_rather_than_null() -> None:
    class Arguments(BaseModel):
        name: str | None = Field(default=None, max_length=3, description="A name.")
        words: list[str] = Field(default=[], max_length=2)
        limit: int = Field(default=10, ge=1, le=50)

    assert for_arguments(Arguments.model_json_schema()) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "A name."},
            "words": {"items": {"type": "string"}, "type": "array"},
            "limit": {"default": 10, "minimum": 1, "maximum": 50, "type": "integer"},
        },
        "additionalProperties": False,
    }
    with pytest.raises(ValidationError):
        Arguments(name="long")
