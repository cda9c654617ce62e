"""The pages that a new subject begins with. What stands in <!-- --> is advice to the author; no actor ever sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula import messages
from nebula.subject.files import EVENTS, MEMORY, MIND, SOUL, STATE, SUBJECT

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = ("npc", "player", "faction")

_SUBJECT = {
    "zh": """---
id: {id}
name: {name}
kind: {kind}
---

# {name}（只给主持人看）

<!-- 全知的一页：真相、走向、伏笔。角色永远读不到，也不会进索引。 -->

## 真相

## 走向

## 不能提前泄露的
""",
    "en": """---
id: {id}
name: {name}
kind: {kind}
---

# {name} (for the leader only)

<!-- The page that knows everything: hidden truth, direction, what is planted. No actor reads it, no index holds it. -->

## Hidden truth

## Direction

## Must not come out early
""",
}
_SOUL = {
    "zh": """# {i}是{name}

<!-- 第一人称，整页交给扮演者。只写{i}自己知道的。 -->

## {i}是谁

## {i}的性格

## {i}怎么说话

## {i}知道什么

## {i}想要什么

## {i}怕什么

## {i}绝不做什么
""",
    "en": """# {i_am} {name}

<!-- In first person; handed whole to whoever plays the part. Only what {i} would know. -->

## Who {i_am_small}

## {my} character

## How {i} speak

## What {i} know

## What {i} want

## What {i} fear

## What {i} never do
""",
}
_MIND = {
    "zh": "# 此刻的心思\n\n<!-- 现在的心情、疑问、一时的念头。每次演完可以整页重写。 -->\n",
    "en": "# On {my_small} mind\n\n<!-- Present mood, doubts, short-term motives. May be written anew each time. -->\n",
}
_STATE = {
    "zh": """# 此刻的处境

<!-- 在哪里、身体怎样、带着什么、眼下要做什么、别人看得见什么。 -->

## 在哪里

## 身体

## 随身

## 眼下要做的

## 别人看得见的
""",
    "en": """# Where things stand

<!-- Place, body, belongings, short-term aim, what others can see. -->

## Place

## Body

## Belongings

## Short-term aim

## What others can see
""",
}


def pages(subject: str, name: str, kind: str) -> Mapping[str, str]:
    """File name -> text of the six files; the two JSONL ones are empty. A faction speaks of itself as `we`."""
    language = messages.language()
    many = kind == "faction"
    facts = {"id": subject, "name": name or subject, "kind": kind}
    if language == "zh":
        facts["i"] = "我们" if many else "我"
    else:
        facts |= {"i": "we", "i_am": "We are", "i_am_small": "we are", "my": "Our", "my_small": "our"}
        if not many:
            facts |= {"i": "I", "i_am": "I am", "i_am_small": "I am", "my": "My", "my_small": "my"}
    own = {SUBJECT: _SUBJECT, SOUL: _SOUL, MIND: _MIND, STATE: _STATE}
    return {**{page: text[language].format(**facts) for page, text in own.items()}, EVENTS: "", MEMORY: ""}
