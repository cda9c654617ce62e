"""Words that say nothing about what a text is about: left out of queries and of keywords, kept in the index.

Both lists are our own: function words (articles, particles, pronouns, prepositions, conjunctions,
auxiliaries, question words) written down by class, without taking over a published list. Dropping them from a
query was worth more than any other step measured: nDCG@10 of BM25 madial_en .437 -> .524, memorybank_en .759
-> .847, locomo_en .417 -> .474 (English); madial_zh .527 -> .564, subject_zh .661 -> .676, memorybank_zh and
cmrc_zh within .004 (Chinese). Words of place and time (before, under …) are no stop words: leaving them out
of queries cost locomo_en .004.
"""

from __future__ import annotations

from typing import Final

_ENGLISH = """
    a an the and or but nor if then than so because while though although as until unless of to in on at
    by for with from into onto about i you he she it we they me him her us them my your his its our
    their mine yours hers ours theirs myself yourself himself herself itself ourselves themselves this
    that these those some any such other same own what which who whom whose when where why how there
    here am is are was were be been being do does did doing done have has had having can could will
    would shall should may might must ought no not only just very too also again ever even still yet
    more most much many both each all few s t d m re ve ll don didn doesn isn aren wasn weren hasn haven
    hadn won wouldn couldn shouldn let lets yes yeah oh ok okay hey hi hello please thanks
"""

#: Single characters: particles, pronouns, prepositions, conjunctions, adverbs of degree, commonest verbs.
_CHARACTERS = (
    "的了着过地得吗呢吧啊呀嘛么哦嗯哈啦"
    "我你您他她它们这那哪谁之其某各每"
    "在是有会能要说去来从到对为由向往于以被把将让给跟同及和与或而且但若则因所"
    "就都也还又很太更最没不只再才已个些上下里中"
)

_WORDS = """
    什么 怎么 怎样 怎么样 如何 为什么 为何 哪里 哪儿 哪个 哪些 哪种 多少 几个 是否 是不是 有没有 能不能
    可不可以 我们 你们 他们 她们 它们 咱们 自己 大家 别人 这个 那个 这些 那些 这里 那里 这儿 那儿 这样
    那样 这么 那么 这种 那种 因为 所以 但是 可是 不过 然而 而且 并且 或者 还是 如果 虽然 尽管 即使 只要
    只有 除了 关于 对于 由于 以及 为了 根据 就是 不是 都是 也是 没有 可以 能够 可能 应该 需要 已经 正在
    曾经 将要 一直 一定 非常 特别 比较 十分 真的 其实 当然 一个 一些 一下 一样 一种 一点 有点 有些 时候
    的话 之后 之前 以后 以前 然后 后来 现在 知道 觉得 认为 起来 出来 那时
"""

_KEEPING_ON = """
    好 好的 好吧 好呀 好啊 好嘞 你好 您好 大家好 哈喽 嗨 喂 早 早上好 上午好 下午好 晚上好 晚安 再见 拜拜 行
    不行 可以 不可以 对 对的 是的 没事 没错 谢谢 多谢 感谢 辛苦 辛苦了 抱歉 对不起 没关系 不客气 继续 接着
    下一步 下一个 下一 步 一步 再来 再来一个 再试 试试 再说 开始 停 停下 等等 稍等 请 请问 明白 懂 懂了 知道了 收到 了解
    完成 换 换个 重来 加油 哈哈 哈哈哈 嘿嘿 嗯嗯 怎么办
    yo k yep yup nope nah thank thx ty cheers sorry sure fine good great cool nice right perfect awesome continue go
    going next proceed start stop wait done bye goodbye morning evening afternoon night lol haha hmm hm try
"""

STOP_WORDS: Final = frozenset((*_ENGLISH.split(), *_CHARACTERS, *_WORDS.split()))
#: Stop words, and what keeps a conversation going: greetings, thanks, assent, a wish that it goes on.
PHATIC: Final = STOP_WORDS.union(_KEEPING_ON.split())
