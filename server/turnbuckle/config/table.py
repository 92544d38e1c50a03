"""What every table of the configuration is."""

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A table of the configuration."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )
