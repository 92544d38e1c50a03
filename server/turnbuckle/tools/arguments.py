"""What a call names and what it passes: found and validated, never repaired."""

import orjson
from pydantic import BaseModel, ValidationError

from turnbuckle.session.parts import Call
from turnbuckle.tools.registry import AnyTool, ToolRegistry
from turnbuckle.tools.tool import ToolError


def find(call: Call, registry: ToolRegistry) -> AnyTool:
    """The tool that a call names.

    Raises:
        ToolError: UNKNOWN_TOOL, with close names.
    """
    tool = registry.get(call.name)
    if tool is None:
        like = ", ".join(registry.like(call.name))
        hint = f"; did you mean {like}?" if like else ""
        raise ToolError("UNKNOWN_TOOL", f"there is no tool named {call.name!r}{hint}")
    return tool


def parse_arguments(tool: AnyTool, raw: str) -> BaseModel:
    """The validated arguments; JSON is never repaired, and no text at all is `{}`.

    Raises:
        ToolError: INVALID_ARGS, naming every violation.
    """
    try:
        value = orjson.loads(raw) if raw.strip() else {}
    except orjson.JSONDecodeError as error:
        raise ToolError("INVALID_ARGS", f"the arguments are not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ToolError("INVALID_ARGS", "the arguments must be a JSON object")
    try:
        arguments: BaseModel = tool.parameters.model_validate(value)
    except ValidationError as error:
        faults = (
            f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise ToolError("INVALID_ARGS", "; ".join(faults)) from error
    return arguments


def is_parallel(call: Call, registry: ToolRegistry) -> bool:
    """Whether a call may run beside others; whatever is not exactly "parallel" may not.

    Raises:
        ToolError: there is no such tool, or the arguments are not valid.
        Exception: what the tool's own classifier raised.
    """
    tool = find(call, registry)
    mode: object = tool.execution_mode
    if callable(mode):
        mode = mode(parse_arguments(tool, call.arguments))
    return type(mode) is str and mode == "parallel"
