"""A session of seven turns: two from the reference, the other five in the same style."""

from datetime import UTC, datetime, timedelta

from memoryd.domain.sessions.making_turns import RawTurn

KEY = "agent:main:discord:channel:常规"
BEGUN = datetime(2026, 1, 30, 18, 16, tzinfo=UTC)
_SAID = (
    (0, "hi", "你好！有什么可以帮你的吗？"),
    (
        1,
        "想知道在Discord里面如何避免每次都要艾特你，你才能够接受消息",
        "这取决于 OpenClaw 的 Discord 配置。可以将我设置为监听整个频道，而不是只回应提及：先打开 `openclaw.json`，"
        "再把频道的 requireMention 改成 false。需要注意的是，因为每条消息都会唤醒模型，所以费用会增加，"
        "建议只在私人频道使用。",
    ),
    (3, "好的，谢谢", "不客气！"),
    (4, "你现在用的是什么模型？", "我是一个AI助手。"),
    (6, "重启之后你还会知道刚才说过的话吗", "重启之后只有写进文件的内容会留下来。"),
    (
        8,
        "我希望你的记忆更像人一样，只记住重要的东西，你觉得应该怎么设计？",
        "我建议用按顺序索引的问答：问题是锚点，全部保留，因为它们便宜；答案只在重要的时候保存，而不是全文存档。\n"
        "1. 先给每个回答打分，超过阈值才写入 `qa-index.json`\n2. 再用关键词和语义哈希代替向量检索\n"
        "这样既省空间又保留上下文的顺序，不过需要一个阈值的权衡。",
    ),
    (
        10,
        "为什么LLM的架构决定了我们要保存问题的顺序，而不是单独的问答？",
        "因为注意力机制读的是整个序列：同样的一句话，前面的五个问题不同，激活的含义就不同，因此随机的问答对无法重建语境。"
        "这意味着检索应该返回一段连续的对话，而不是最相似的一条；建议默认取最近五轮，同时附上重要的答案。",
    ),
)
SEVEN = tuple(RawTurn(question, answer, BEGUN + timedelta(minutes=minutes)) for minutes, question, answer in _SAID)
