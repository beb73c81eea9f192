"""memoryctl recall: memories and passages that answer, each with its citation."""

from collections.abc import Iterator
from typing import Literal, Unpack, get_args

import click

from memoryd.cli.answer_health import WHY, deadline_option, question_argument, required_question, strict_option, worth
from memoryd.cli.invocation import SHORT_ID, Invocation, key_option, text_or_stdin, verb
from memoryd.cli.terminal import behind_gutter, encoded, harmless, harmless_line, styled
from memoryd.client import RecallBounds
from memoryd.replies.recall import Encode, RecallItemReply, RecallReply
from memoryd.wire import RESULTS_MAX, Exit


@click.command("recall")
@question_argument
@click.option(
    "-k",
    "--k",
    "--limit",
    "k",
    type=click.IntRange(1, RESULTS_MAX),
    help="How many memories and passages at most (else memory.recall.k).",
)
@click.option("--since", metavar="DATE", help="Only what happened on this day or later: 2026-10-01, or 30d.")
@click.option("--until", metavar="DATE", help="Only what happened on this day or earlier.")
@click.option("--as-of", metavar="DATE", help="What was true on this day, in the versions of then.")
@click.option("--known-by", metavar="DATE", help="What was known on this day.")
@click.option("--entity", metavar="NAME", help="Only memories about this entity, by any of its names.")
@click.option("--kind", metavar="KIND", help="Only memories of this kind, such as opinion, preference, world.")
@click.option("--scope", metavar="SCOPE", help="Only memories of this scope, such as workspace, global, agent:ID.")
@click.option(
    "--budget", type=click.IntRange(0, 100_000), help="Tokens of a bundle at most (else memory.recall.budget)."
)
@click.option("--bundle", is_flag=True, help="Print text for a prompt: what stays the same, then what is recalled.")
@click.option(
    "--encode",
    type=click.Choice(get_args(Encode)),
    default="text",
    help="Print the bundle as text, or as JSON in the message shape of an API (implies --bundle).",
)
@key_option
@deadline_option
@click.option("--no-touch", is_flag=True, help="Only look: what is told does not count as used.")
@click.option("--explain", is_flag=True, help="Show why each one was chosen, and what was cut and why.")
@strict_option
@verb
def recall_command(
    invocation: Invocation,
    words: tuple[str, ...],
    bundle: bool,
    no_touch: bool,
    explain: bool,
    strict: bool,
    **bounds: Unpack[RecallBounds],
) -> Exit:
    """Recall what the memory holds about QUERY, best first, each with its citation."""
    is_bundle = bundle or bounds["budget"] is not None or bounds["encode"] != "text"
    question = required_question(text_or_stdin(" ".join(words)), 'memoryctl recall "what does Peter prefer"')
    format: Literal["bundle", "items"] = "bundle" if is_bundle else "items"
    reply = invocation.memory.recall(question, format=format, touch=not no_touch, explain=explain, **bounds)
    by = [f"answered by {reply['backend']}: {reply['fallback']['reason']}"] if reply["fallback"] else []
    code, notes = worth(reply, "memory", is_found=bool(reply["results"]), is_strict=strict, by=by)
    if is_bundle:
        notes = [*_receipt(reply), *notes]
    else:
        scores = [round(item["score"], 2) for item in reply["results"] if "score" in item]
        if scores != sorted(scores, reverse=True):
            notes.append(
                "the scores do not give this order: asked days, current versions or the newest come first "
                "(see --explain)"
            )
    return invocation.show(reply, _answer_lines(reply, is_bundle=is_bundle), [*notes, *[WHY] * explain], code=code)


def _answer_lines(reply: RecallReply, *, is_bundle: bool) -> Iterator[str]:
    if is_bundle:
        bundle = reply.get("bundle", "")
        if bundle:
            yield harmless(bundle).removesuffix("\n") if isinstance(bundle, str) else encoded(bundle)
    else:
        for number, item in enumerate(reply["results"], start=1):
            yield ("" if number == 1 else "\n") + "\n".join(_lines(f"{number}.", item))
    for item in reply.get("leftOut", []):
        yield "\n" + "\n".join(_lines("-", item))


def _receipt(reply: RecallReply) -> Iterator[str]:
    for line in reply.get("receipt", []):
        parts = f"{line['tokens']} tokens" if line["told"] else "left out"
        yield f"{harmless_line(line['name'])}: {parts}" + (f" ({line['cut']})" if line["cut"] else "")


def _lines(mark: str, item: RecallItemReply) -> Iterator[str]:
    """Yield an item line by line: `mark`, citation, what it is and how sure, then what it says."""
    place = harmless_line(item.get("citation") or item.get("path") or "")
    score = styled(f"{item['score']:.2f}", colour="green") if "score" in item else ""
    parts = "  ".join(part for part in (f"{mark} {styled(place, bold=True)}", score, _about(item)) if part)
    yield parts
    for line in item["content"].rstrip("\n").split("\n"):
        yield behind_gutter(line, is_marked=False)
    yield from _more(item)


def _about(item: RecallItemReply) -> str:
    parts = [item.get("type", item["is"]), item.get("timestamp", ""), *item.get("entities", [])]
    parts += [item["name"]] if "name" in item else []
    if "confidence" in item:
        parts.append(f"c={item['confidence']:.2f}")
    parts += [item["id"][:SHORT_ID]] if "id" in item else []
    parts += item.get("flags", [])
    parts += ["superseded"] if item.get("supersededBy") else []
    parts += [f"disputed by {', '.join(key[:SHORT_ID] for key in item['doubtedBy'])}"] if "doubtedBy" in item else []
    parts += [item["state"]] if item.get("state", "verified") != "verified" else []
    parts += ["(no answer)"] if item.get("verdict") == "none" else []
    return styled(harmless_line(" · ".join(part for part in parts if part)), dim=True)


def _more(item: RecallItemReply) -> Iterator[str]:
    if older := item.get("supersedes"):
        yield "   " + styled(f"supersedes {', '.join(key[:SHORT_ID] for key in older)}", dim=True)
    if evidence := item.get("evidence"):
        for word in ("for", "against"):
            cited = [source for one in evidence[word] for source in one["sources"]]
            if cited:
                yield "   " + styled(f"{word}: {harmless_line(', '.join(cited))}", dim=True)
    if (explained := item.get("explain")) and explained["because"]:
        yield "   " + styled(harmless_line(explained["because"]), dim=True)
