"""Pydantic AI toolsets, isolated: the same tools, whose long results a model sees as summaries."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic_ai import RunContext
from pydantic_ai.messages import ToolReturn
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset

from clew.artifacts.isolation.calls import answering, known_call
from clew.artifacts.isolation.isolate import Isolation


@dataclass
class IsolatedToolset(WrapperToolset[AgentDepsT]):
    """A toolset around another one. What a tool returns beside its value, for the user or the program, stays."""

    isolation: Isolation
    __clew_reads_back__: ClassVar[bool] = True

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        """Call the tool; its result as the model should see it."""
        isolation = replace(self.isolation, tool=name)
        with answering(known_call(ctx.tool_call_id, None)) as call:
            result = await super().call_tool(name, tool_args, ctx, tool)
            if isinstance(result, ToolReturn):
                return replace(result, return_value=await isolation.shown(result.return_value, call))
            return await isolation.shown(result, call)
