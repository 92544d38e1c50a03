"""The sections of the system prompt, and how they become one text."""

import re
from dataclasses import replace

from turnbuckle.agent.hooks import Hooks, Prompt, Section
from turnbuckle.kernel.owned import Owned
from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.session.codec import scrub

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")


class PromptSections:
    """The sections of one session, in the order in which they came."""

    def __init__(self) -> None:
        self._sections: Owned[Section] = Owned()

    def add(self, scope: Scope, name: str, text: str) -> Disposer:
        """Add a section that leaves with its scope; it is in the next step's prompt."""
        return self._sections.add(scope, Section(name=name, text=text), f"prompt section {name}")

    async def assemble(self, hooks: Hooks) -> str:
        """The system prompt, after the layers of `system-prompt/assemble`."""

        async def as_it_is(prompt: Prompt) -> Prompt:
            return prompt

        start = Prompt(sections=tuple(self._sections), variables={})
        return render(await hooks.prompt.run(start, as_it_is))


def render(prompt: Prompt) -> str:
    """Sections as Markdown; a variable that is not set stays as it is written."""

    def value(match: re.Match[str]) -> str:
        return prompt.variables.get(match[1], match[0])

    parts = [replace(s, text=_VARIABLE.sub(value, s.text)) for s in prompt.sections]
    return scrub("\n\n".join(f"## {part.name}\n\n{part.text}" for part in parts))
