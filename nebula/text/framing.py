"""Words that hand a memory on and say nothing themselves: "我记得", "用户之前提到", "I remember that", "as you said".

A phrase is known by its verb of remembering or saying, told of oneself, of you or of the user, or by its noun (memory,
note). Whoever else said it, when it holds, and whether it does are news: `妈妈说`, `明天`, `以前`, `不记得` are none.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from nebula.text.forms import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Tokens of a phrase around a memory.
LONGEST = 14

_WHO = "我们?|你们?|您|咱们?|用户|[他她](?:们)?|主人"
_WHEN = "之前|以前|先前|早前|此前|上次|上回|刚才|刚刚|前面|曾经?|已经?|早就|一直|还|也|都|就|又|再次?|依然|仍然?"
_VERB = (
    "记得|记着|记住|记下|记录|记了|记起|想起|回想|回忆|知道|了解|提到|提及|提起|提过|提|说到|说起|说过|说|讲到|讲过|讲"
    "|告诉|聊到|聊起|聊过|写道|写到|写过|写着|写|表示|强调|补充|交代|提醒|备注|注明|确认|重申|引用|分享"
)
_NOUN = "记忆|记录|笔记|备忘录?|回忆|印象|资料|历史|档案|备注|摘要|小结|总结|内容|原话|原文|对话|信息|事实|要点"
_NUMBER = "第?(?:[0-9]+|[一二三四五六七八九十]+)[条点个]?"
_BEFORE_VERB = f"{_WHO}|{_WHEN}|的|所|请|要|让|帮|正?如|像|跟|向|对|和"
_BEHIND_VERB = "起来|起|来|过|了|到|着|道|一下|我们?|你们?|您|的|是|下来"
_BEFORE_NOUN = (
    f"根据|依据|据|按照?|从|在|来自|关于|以下|下面|以上|上面|这是|那是|有|是|一条|条|{_WHO}|{_WHEN}"
    "|这里|那里|已知|已有|相关|过往|过去|长期|现有|的|新"
)
_BEHIND_NOUN = f"里面?|中|库|看|显示|来看|可知|表明|如下|上|的|是|有|{_NUMBER}"
_CHINESE = (
    f"(?:(?:{_BEFORE_VERB})*(?:{_VERB})(?:{_BEHIND_VERB})*|(?:{_BEFORE_NOUN})*(?:{_NOUN})(?:{_BEHIND_NOUN})*"
    "|第(?:[0-9]+|[一二三四五六七八九十]+)[条点个]|这(?:件事|一点|点|条|个|是)|的?(?:这件|那件)?事情?"
    f"|据(?:{_WHO})所知|(?:如果|要是)?(?:{_WHO})?没有?记错的?话?|关于(?:{_WHO}|这件事)"
    "|好的|另外|还有|对了|没错|嗯|是的|如上|如下|其中|其实|所以|顺便|注意)"
)
_WHO_EN = "i|we|you|he|she|they|user|the user|it"
_WHEN_EN = (
    "already|previously|once|also|have|had|has|just|earlier|can|still|do|did|was|were|been|always|clearly|to|that"
    "|want|wants|wanted|asked|me|us|i've|you've|we've|they've|he'd|she'd|you'd|i'd|might|should|please|now"
)
_VERB_EN = (
    "remember(?:ed|s)?|recall(?:ed|s)?|mention(?:ed|s)?|said|says|say|told|noted?|notes|wrote|written|know|known|knew"
    "|stated|states|shared|remind(?:ed)?|reminder|saved|stored|recorded|remembering|recalling|noting|quote|according"
)
_NOUN_EN = "memory|memories|notes?|record|records|fact|facts|context|history|conversation|summary|fyi|item|reminder"
_BEFORE_VERB_EN = f"as|so|and|but|well|ok|okay|yes|if|what|here|{_WHO_EN}|{_WHEN_EN}"
_BEHIND_VERB_EN = (
    "that|me|us|you|before|earlier|previously|last time|once|to|in|down|this|it|the|my|your|about|user|from|correctly"
    "|rightly|following|here"
)
_BEFORE_NOUN_EN = (
    "as|from|in|per|according|based|on|to|my|your|our|the|a|an|this|is|of|here|for|old|earlier|previous|stored|saved"
    "|long|term|relevant|user|user's|record"
)
_ENGLISH = (
    f"(?:(?:{_BEFORE_VERB_EN}) )*(?:{_VERB_EN})(?: (?:{_BEHIND_VERB_EN}))*"
    f"|(?:(?:{_BEFORE_NOUN_EN}) )*(?:{_NOUN_EN})(?: (?:[0-9]+|says?|shows?|that|is|tells me))*"
    "|for the record|also|ok|okay|yes|by the way|btw|sure|right|earlier you|the user|user|assistant"
)


@cache
def _phrases() -> re.Pattern[str]:
    return re.compile(rf"(?:\s*(?:{_CHINESE}|(?<![^\W_])(?:{_ENGLISH})(?![^\W_])))+\s*")


def is_frame(tokens: Sequence[str]) -> bool:
    """Whether tokens (a text's form) only hand on what stands beside them; none at all do.

    我 记 得 -> True; 妈 妈 说 -> False; i remember that -> True.
    """
    if not tokens:
        return True
    if len(tokens) > LONGEST:
        return False
    return _phrases().fullmatch(joined(tokens)) is not None
