"""What every message of ours has in common."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Wire(BaseModel):
    """A message's params or result: camelCase, absent rather than null, unknown fields skipped."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )


def refuse(data: object, *names: str) -> object:
    """Refuse parameters that this version does not have, rather than take and ignore them.

    Raises:
        ValueError: one of them is there.
    """
    for name in names:
        if isinstance(data, dict) and data.get(name) is not None:
            raise ValueError(f"{name} is not supported by this version of the server")
    return data
