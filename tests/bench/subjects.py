"""Subject search: its quality on subject_zh with and without the floor, and what a search costs in a large project.

    python tests/bench/subjects.py [SUBJECTS] [EVENTS]

Quality: nDCG@10, questions answered, gold kept, by the bundled encoder. Cost: SUBJECTS (1,000) with EVENTS (500) each,
vectors drawn from character pairs (nebula.subject.leaktest.Drawn): a search of one subject, and one after an event was
appended to it, interleaved; medians, their ratio, and texts embedded by each. Nothing is asserted.
"""

from __future__ import annotations

import json
import math
import random
import sys
import tempfile
import time
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from nebula.subject import cast, recall, records, saving, search
from nebula.subject.embedders import Builtin
from nebula.subject.leaktest import Drawn
from nebula.subject.project import Project

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 5, 1, 9)
DATA = Path(__file__).parent.parent / "data" / "subject_zh"
ROUNDS = 31


def quality(embedder: Builtin, folder: Path) -> tuple[float, float, float]:
    """(nDCG@10, share of questions answered, share of gold among 20)."""
    project = Project(folder)
    names: dict[tuple[str, str, str | int], str] = {}
    lives: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (DATA / "memories.jsonl").read_text(encoding="utf-8").splitlines():
        memory = json.loads(line)
        lives[memory["subject"]].append(memory)
    for subject, life in lives.items():
        views, events = [], []
        for memory in life:
            if memory["tag"] == "event":
                events.append(records.event({"text": memory["text"], "time": memory.get("time", "")}))
                names[subject, "events", len(events)] = memory["id"]
            else:
                topic, _, said = memory["text"].partition("：")
                views.append(records.view({"topic": topic, "view": said or topic}))
                names[subject, "memory", topic] = memory["id"]
        cast.init(project, [cast.Part(subject, events=events, views=views)], NOW)
    gains, answered, kept, golds = [], 0, 0, 0
    queries = [json.loads(line) for line in (DATA / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    for query in queries:
        asker = recall.Asker(project, query["subject"], embedder, NOW)
        hits = recall.find(asker, query["query"], limit=20)
        ids = [names[query["subject"], h.source, h.topic if h.source == "memory" else h.line] for h in hits]
        gold = set(query["gold"])
        best = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(gold))))
        gains.append(sum(1 / math.log2(rank + 2) for rank, i in enumerate(ids[:10]) if i in gold) / best)
        answered += bool(hits)
        kept += len(gold & set(ids))
        golds += len(gold)
    return sum(gains) / len(gains), answered / len(queries), kept / golds


class Counting(Drawn):
    """Counts the texts that it embeds."""

    def __init__(self) -> None:
        self.n = 0

    def embed(self, texts: Sequence[str]) -> Any:
        self.n += len(texts)
        return super().embed(texts)


def cost(subjects: int, events: int, folder: Path) -> None:
    draw, project, embedder = random.Random(1), Project(folder), Counting()
    words = [f"{a}{b}" for a in "春夏秋冬晨昏风雨" for b in "灯船伞塔信桥井钟镜琴门"]

    def text() -> str:
        return "，".join("".join(draw.choices(words, k=4)) for _ in range(3))

    for n in range(subjects):
        lived = [records.event({"text": text()}) for _ in range(events)]
        cast.init(project, [cast.Part(f"s{n}", events=lived)], NOW)
        recall.find(recall.Asker(project, f"s{n}", embedder, NOW), "灯")
    plain: list[float] = []
    after: list[float] = []
    embedded = [0, 0]
    for number in range(ROUNDS):
        asker = recall.Asker(project, f"s{number % subjects}", embedder, NOW)
        query = text()
        recall.find(asker, query)
        for kind, times in enumerate((plain, after)):
            if kind:
                with saving.held(project, asker.subject, NOW) as actor:
                    saving.write(actor, saving.Draft([records.event({"text": text()})]))
            before, begun = embedder.n, time.perf_counter()
            recall.find(asker, query)
            times.append(time.perf_counter() - begun)
            embedded[kind] += embedder.n - before
    size = cast.index_path(project).stat().st_size / 2**20
    one, two = median(plain) * 1000, median(after) * 1000
    sys.stdout.write(
        f"{subjects} subjects × {events} events, index {size:.0f} MB: search {one:.1f} ms ({embedded[0] / ROUNDS:.0f} "
        f"embedded), after one more event {two:.1f} ms ({embedded[1] / ROUNDS:.0f} embedded), × {two / one:.2f}\n"
    )


def main(subjects: int, events: int) -> None:
    embedder = Builtin()
    floors = search.BUILTIN_FLOOR, search.SHARE_FLOOR
    for name, (search.BUILTIN_FLOOR, search.SHARE_FLOOR) in {"floor": floors, "no floor": (0.0, 0.0)}.items():
        with tempfile.TemporaryDirectory() as folder:
            found = quality(embedder, Path(folder))
        sys.stdout.write("subject_zh, {}: nDCG@10 {:.3f}, answered {:.2f}, gold kept {:.2f}\n".format(name, *found))
    with tempfile.TemporaryDirectory() as folder:
        cost(subjects, events, Path(folder))


if __name__ == "__main__":
    main(*(int(given) for given in sys.argv[1:3] or (1000, 500)))
