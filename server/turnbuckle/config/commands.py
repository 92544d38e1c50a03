"""What commands are run with, as the person sets it."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

from turnbuckle.config.table import Table
from turnbuckle.workspace.process.environment import may_inherit


def _variable(name: str) -> str:
    if not may_inherit(name):
        raise ValueError
    return name


Variables: TypeAlias = tuple[Annotated[str, AfterValidator(_variable)], ...]


class CommandSettings(Table):
    """What commands are run with."""

    environment: Variables = Field(
        default=(),
        strict=False,  # a list of the file or of JSON; what is in it stays strict
        json_schema_extra={
            "right": "a list of names of variables, each in quotes; "
            "the keys of model providers are handed on to no command"
        },
    )
    """Variables that commands inherit beside the usual ones, such as `GH_TOKEN` or `DATABASE_URL`;
    the keys of model providers are handed on to none."""
