"""What one session's agent is made of, as one value."""

from dataclasses import dataclass

from turnbuckle.agent.approvals import Approvals
from turnbuckle.agent.hooks import Hooks
from turnbuckle.agent.inbox import Inbox
from turnbuckle.agent.models import Models
from turnbuckle.agent.prompt import PromptSections
from turnbuckle.session.blobs import Blobs
from turnbuckle.session.session import Session
from turnbuckle.tools.registry import ToolRegistry
from turnbuckle.workspace.port import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a session is run with. `max_steps` per turn; at most so many parallel calls at once.

    A layer that holds a turn up for `layer_limit` seconds is named.
    """

    model: str
    max_steps: int = 8
    max_parallel_tool_calls: int = 10
    layer_limit: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The parts of one session's agent; each is that session's own."""

    session: Session
    inbox: Inbox
    approvals: Approvals
    hooks: Hooks
    tools: ToolRegistry
    models: Models
    prompt: PromptSections
    workspace: Workspace
    blobs: Blobs
    settings: Settings
