"""Invented lives for tests: words, texts, and an encoder of drawn vectors that costs nothing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

WORDS = [
    "灯塔",
    "看守",
    "望远镜",
    "渡轮",
    "潮汐表",
    "自行车",
    "图书馆",
    "电影院",
    "妈妈",
    "医院",
    "海鸥",
    "备份脚本",
    "github",
    "python",
    "密钥",
    "青岛",
    "天文台",
    "土星",
    "面包店",
    "钢琴课",
    "邮局",
    "雨伞",
    "温泉",
    "台风",
    "火车票",
    "相册",
    "花生",
    "过敏",
    "搬家",
    "毕业",
    "论文",
    "实验室",
]


@dataclass(frozen=True)
class Drawn:
    """Unit vectors [n, d] and the text that each belongs to."""

    vectors: Any
    owner: Any


class DrawnEncoder:
    """Vectors that depend on the text alone: texts with the same first two characters are near."""

    key: str = "drawn"
    model = "drawn"
    dimensions = 16

    def encode(self, texts: Sequence[str]) -> Drawn:
        """One piece a text."""
        made = []
        for text in texts:
            base, own = (
                np.random.default_rng(int(hashlib.sha256(part.encode()).hexdigest()[:8], 16)).normal(size=16)
                for part in (text[:2], text)
            )
            vector = base + 0.3 * own
            made.append(vector / np.linalg.norm(vector))
        return Drawn(np.array(made, np.float32).reshape(-1, 16), np.arange(len(texts)))


def sentence(draw: random.Random) -> str:
    """A handful of words that no other call is likely to give."""
    return "".join(draw.sample(WORDS, draw.randint(2, 5))) + str(draw.randint(0, 9999))
