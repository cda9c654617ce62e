"""The command why: the sentences, the JSON, the commands that it offers."""

from __future__ import annotations

import random
import re
import shlex
import sys
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from nebula.cli import printing
from nebula.mind import Mind
from tests.invented import DrawnEncoder, sentence

if TYPE_CHECKING:
    from tests.cli.conftest import Nebula


@pytest.fixture
def ferries(nebula: Nebula, monkeypatch: pytest.MonkeyPatch) -> Nebula:
    monkeypatch.setenv("NEBULA_NOW", "2026-12-02T09:00:00")
    for text in ("渡轮早上六点开", "面包店周二不开门", "钢琴课改到周五晚上"):
        nebula("add", text)
    nebula("tag", "n3", "家")
    return nebula


def test_what_came_is_explained(ferries: Nebula) -> None:
    """By ref, uid and handle; the score is recall's; handles and uses stay as they were."""
    hit = ferries("recall", "渡轮几点开", "--json", "--no-touch").data["hits"][0]
    ferries("recall", "渡轮几点开", "--no-touch")
    for ref in ("n1", "@1", hit["uid"]):
        data = ferries("why", ref, "渡轮几点开", "--json").data
        assert (data["memory"]["ref"], data["came"], data["place"]) == ("n1", True, 1)
        # a query is encoded anew by each process, and BLAS may sum its products in another order
        assert data["score"] == pytest.approx(hit["score"], abs=1e-6)
        added = {part["name"]: part["added"] for part in data["parts"] if part["added"]}
        assert added == pytest.approx(hit["parts"], abs=1e-6)
    said = ferries("why", "n1", "渡轮几点开")
    assert (said.code, said.err) == (0, "")
    assert f"{hit['score']:.4f}" in said.out
    assert "有问句里的：渡轮" in said.out
    assert ferries("show", "@1", "--json").data["memories"][0]["ref"] == "n1"
    assert ferries("show", "n1", "--json").data["memories"][0].get("hits", 0) == 0


def test_what_it_offers_runs(ferries: Nebula) -> None:
    """why-not is the same command; each command line brings the memory, the query's own dashes kept."""
    for query in ("渡轮几点开", "--渡轮"):
        argv = ["--tag", "出行", "-n", "1", "--", "n3", query]
        data = ferries("why-not", "--json", *argv).data
        assert data == ferries("why", "--json", *argv).data
        assert [miss["step"] for miss in data["misses"]] == ["tag"]
        assert data["changes"]
        for change in data["changes"]:
            program, *rest = change["command"]
            assert program == "nebula"
            found = ferries(rest[0], "--json", "--no-touch", *rest[1:]).data["hits"]
            assert found[change["place"] - 1]["ref"] == "n3"


def test_english_and_silence(ferries: Nebula, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEBULA_LANG", "en")
    said = ferries("why", "n1", "该剧的主题曲由谁演唱？")
    assert "It did not come to mind." in said.out
    assert "1. --nearest → place 2" in said.out
    assert "--set recall.floor=" in said.out
    assert ferries("why", "n9", "x").code == 2
    assert ferries("why", "n1", " ").code == 2


EQUATION = re.compile(r"^ *(-?[\d.]+(?: \+ -?[\d.]+)*) = (-?[\d.]+)((?: × \w+ [\d.]+)*) = (-?[\d.]+)$", re.MULTILINE)
PART = re.compile(r"^ *\S+?(?:#\d+)?：(?:得分 )?(-?[\d.]+) × 权重 ([\d.]+) = (-?[\d.]+)$", re.MULTILINE)
RANKED = re.compile(r"^ *\S+?#(\d+)：权重 ([\d.]+) ÷ \(([\d.]+) \+ \d+\) = ([\d.]+)", re.MULTILINE)


@pytest.mark.parametrize("profile", [(), ("--profile", "original"), ("--set", "recall.freshness=0.77")])
def test_who_works_it_out_gets_what_is_shown(
    nebula: Nebula, monkeypatch: pytest.MonkeyPatch, profile: tuple[str, ...]
) -> None:
    """To the last digit: score × weight is what is added, the sum of these is the sum, times the factors the score."""
    monkeypatch.setenv("NEBULA_NOW", "2026-12-02T09:00:00")
    monkeypatch.setattr(Mind, "encoder", lambda _: DrawnEncoder())
    draw = random.Random(4)
    for turn in range(25):
        at = f"2026-{draw.randint(1, 11):02}-{draw.randint(1, 28):02}T10:00:00"
        given = [
            "--at",
            at,
            "--imp",
            f"{draw.random():.2f}",
            "--session",
            "s",
            "--turn",
            str(turn),
            "--speaker",
            "妈妈",
        ]
        assert nebula("add", sentence(draw), *given).code == 0
    seen = parts = 0
    for number in range(1, 26):
        said = nebula("why", f"n{number}", "妈妈说的灯塔和渡轮，八月", "-n", "30", "--nearest", *profile).out
        for added, fused, factors, score in EQUATION.findall(said):
            seen += 1
            assert sum(map(Decimal, added.split(" + "))) == Decimal(fused)
            product = Decimal(fused)
            for factor in re.findall(r" × \w+ ([\d.]+)", factors):
                product *= Decimal(factor)
            assert f"{product:.4f}" == score
        for one, weight, added in PART.findall(said):
            parts += 1
            assert (Decimal(one) * Decimal(weight)).quantize(Decimal(added)) == Decimal(added)
        for rank, weight, k, added in RANKED.findall(said):
            parts += 1
            assert (Decimal(weight) / (Decimal(k) + int(rank))).quantize(Decimal(added)) == Decimal(added)
    assert seen >= 20
    assert parts >= 40


@pytest.mark.parametrize("seed", [1, 2])
def test_what_it_offers_where_echoes_fold_runs_as_it_is_typed(
    nebula: Nebula, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Every line with a command, taken from the text as a person would, brings the memory."""
    monkeypatch.setenv("NEBULA_NOW", "2026-12-02T09:00:00")
    monkeypatch.setattr(Mind, "encoder", lambda _: DrawnEncoder())
    draw = random.Random(seed)
    texts = [sentence(draw) for _ in range(16)]
    for text in texts:
        nebula("add", text, "--at", f"2026-{draw.randint(1, 11):02}-03T10:00:00", "--tag", draw.choice("甲乙"))
    nebula("list", "-n", "100")
    for text in draw.sample(texts, 6):
        nebula("add", f"我记得：{text}")
    memories = nebula("list", "-n", "100", "--json").data["memories"]
    assert sum(memory["via"] == "回声" for memory in memories) >= 5
    run = 0
    for memory in memories[::2] + [one for one in memories if one["via"] == "回声"][:2]:
        said = nebula("why", memory["ref"], "灯塔 '渡轮'", "-n", "1").out
        for line in said.splitlines():
            if line.strip().startswith("nebula recall"):
                run += 1
                found = nebula(*shlex.split(line)[1:], "--json").data["hits"]
                assert memory["ref"] in [hit["ref"] for hit in found], line
    assert run >= 8


@pytest.mark.parametrize("width", [40, 80])
def test_sentences_fit_a_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chinese is broken anywhere but before closing signs, words of other scripts between them; nothing is lost."""
    from rich.cells import cell_len

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    text = (
        "整个心都说不上记得这回事：最明显的也只到门槛的 0.43（够 1 才开口）。The clearest reaches 0.43, 1 is needed. "
        * 2
    )
    lines = printing.wrapped(text, "  ")
    assert len(lines) > 2
    assert all(cell_len(line) <= width for line in lines)
    assert not any(line.strip()[0] in "，。：（）"[:3] for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert printing.wrapped(text, "  ") == ["  " + text]
