"""memoryctl qmd: what a person needs to use the same qmd by hand."""

import shlex

import click

from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.config.agents import Agent
from memoryd.config.loading.load import load
from memoryd.config.paths import qmd_home, qmd_variables
from memoryd.errors import UnknownAgent
from memoryd.wire import Exit


@click.group("qmd", context_settings=HELP)
def command() -> None:
    """Work with the qmd index of an agent by hand."""


@command.command("env", context_settings=HELP)
@shared
@click.pass_obj
def env(invocation: Invocation) -> Exit:
    """Print the variables that point qmd at the agent's own index.

    Use it as: eval "$(memoryctl qmd env)"; qmd --index index status
    """
    variables = qmd_variables(qmd_home(chosen_agent(invocation.agent).id))
    if invocation.is_json:
        invocation.print_json(variables)
    else:
        for name, value in variables.items():
            click.echo(f"export {name}={shlex.quote(value)}")
    return Exit.DONE


def chosen_agent(agent_id: str | None) -> Agent:
    """Return the agent of the configuration that is meant; raises UnknownAgent."""
    agents = load().config.resolved_agents()
    found = next((one for one in agents if (one.is_default if agent_id is None else one.id == agent_id)), None)
    if found is None:
        known = ", ".join(one.id for one in agents)
        raise UnknownAgent(f"no agent {agent_id!r} is configured", hint=f"there is: {known}")
    return found
