"""Generated Markdown in several styles of notes, from a seed."""

from collections.abc import Callable
from random import Random

_WORDS = """
the of a to and in is it for on with that was at as this by from we have gate lamp river garden kitchen window
paper storm ferry train budget meeting project server backup disk cable printer battery bread coffee market
doctor clinic teacher office contract invoice insurance flight island forest winter birthday neighbour plan
"""
_HAN = "今天我们去公园散步天气很好朋友说下周要搬家新房子离公司近早上喝了咖啡晚上读书学习计划明年旅行"


def sentence(random: Random, least: int = 6, most: int = 22) -> str:
    return " ".join(random.choices(_WORDS.split(), k=random.randint(least, most))).capitalize() + "."


def paragraph(random: Random) -> str:
    return " ".join(sentence(random) for _ in range(random.randint(1, 4)))


def _section(random: Random) -> str:
    level = "#" * random.randint(1, 4)
    items = "".join(f"- {sentence(random)}\n" for _ in range(random.randint(0, 5)))
    prose = "\n\n".join(paragraph(random) for _ in range(random.randint(1, 4)))
    return f"{level} {sentence(random, 2, 5)[:-1]}\n\n{prose}\n\n{items}\n"


def _han_paragraph(random: Random) -> str:
    spans = ("".join(random.choices(_HAN, k=random.randint(5, 30))) for _ in range(random.randint(3, 8)))
    return "，".join(spans) + "。" + "".join(random.choices(_HAN, k=20)) + "！\n"


def _day(random: Random) -> str:
    date = f"{random.randint(2000, 2030)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
    return f"## {date}\n\n### Standup\n\n- [ ] todo\n- [x] {sentence(random)}\n\n{sentence(random)}\n\n---\n\n"


_HABITS: dict[str, Callable[[Random], str]] = {
    "sections": _section,
    "paragraphs without headings": lambda random: paragraph(random) + "\n\n",
    "one paragraph per line": lambda random: paragraph(random) + "\n",
    "one line": lambda random: paragraph(random) + " ",
    "chat": lambda random: f"{random.choice(('Ann', 'Bo'))}: {sentence(random)}\n",
    "diary from a template": _day,
    "Chinese prose": _han_paragraph,
    "table": lambda random: f"| {sentence(random, 1, 4)} | {random.randint(0, 999)} |\n",
}
HABITS = tuple(_HABITS)


def document(habit: str, size: int, seed: int = 1) -> str:
    """Make a document of at least `size` characters."""
    random = Random(seed)
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(_HABITS[habit](random))
        length += len(parts[-1])
    return "".join(parts)
