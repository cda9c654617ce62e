"""Examples of every command, for its help and its page: by path, in Chinese, then in English where they differ.

Each is a line that runs as it stands, beside a mind with a few memories and a story with two subjects; a test runs all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_A_GROUP = 5  # examples below the help of a group of commands

_ZH: Mapping[str, str] = {
    "add": """nebula add "渡轮早上六点开" --tag 出行
nebula add "下周三前把书还给小周" -l promises --due 下周三
echo "从管道来的一条" | nebula add -""",
    "pin": "nebula pin n1 p1",
    "unpin": "nebula unpin n1",
    "edit": 'nebula edit n1 "渡轮改到七点开了"',
    "tag": "nebula tag n1 出行",
    "set": "nebula set o1 due=下周三 imp=0.9",
    "undo": "nebula undo",
    "log": """nebula log -n 5
nebula log --jsonl""",
    "recall": """nebula recall "什么时候开船"
nebula recall "渡轮" --since 上个月 --explain
nebula recall "渡轮" --as-of 2026-05-01 --json""",
    "list": """nebula list -l promises -n 5
nebula list --tag 出行 --all""",
    "show": """nebula show n1
nebula show n1 --history""",
    "context": """nebula context --query "明天坐船吗" --budget 800""",
    "more": """nebula more n1
nebula more o1 --json""",
    "why": """nebula why n1 "什么时候开船"
nebula why n1 "什么时候开船" -n 3 --json""",
    "why-not": 'nebula why-not n1 "下周有什么安排" --tag 家',
    "tune": """nebula tune
nebula tune --apply
nebula tune --reset""",
    "mcp": "nebula mcp",
    "hooks.install": """nebula hooks install claude-code --print
nebula hooks install claude-code
nebula hooks install cursor --print""",
    "hooks.status": "nebula hooks status",
    "hooks.remove": "nebula hooks remove claude-code",
    "hooks.run": "nebula hooks run claude-code",
    "promises": """nebula promises
nebula promises done o1""",
    "forecast": "nebula forecast n1 --days 90",
    "stats": "nebula stats",
    "consolidate": """nebula consolidate --plan
nebula consolidate
nebula consolidate --undo""",
    "surface": 'nebula surface --query "在说坐船的事"',
    "yes": "nebula yes n1",
    "no": "nebula no n1",
    "map": """nebula map
nebula map -o sky.html""",
    "sky": "nebula sky --days 30",
    "panel": "nebula panel --open",
    "import": """nebula import backup.jsonl --dry-run
nebula import conversations.json --from claude --dry-run
nebula import notes --from markdown""",
    "export": """nebula export backup.jsonl
nebula export backup.zip""",
    "merge": "nebula merge backup.jsonl",
    "store.migrate": "nebula store migrate postgresql://owner@db.example/team --role agent",
    "store.copy": "nebula store copy mind postgresql://agent@db.example/team",
    "store.verify": "nebula store verify mind postgresql://agent@db.example/team --samples 100",
    "erase": """nebula erase n1 --dry-run
nebula erase n1 --yes""",
    "embed": "nebula embed --build",
    "encoder.add": "nebula encoder add ./bge-small-en --instruction 'Represent this sentence: '",
    "encoder.list": "nebula encoder list",
    "encoder.remove": "nebula encoder remove",
    "doctor": """nebula doctor
nebula doctor --repair
nebula doctor --verify""",
    "demo": "nebula demo",
    "longterm.show": "nebula longterm show",
    "longterm.edit": 'echo "说话直接，少客套" | nebula longterm edit -',
    "longterm.history": "nebula longterm history",
    "mood.feel": 'nebula mood feel happy 0.6 --why "船票买到了"',
    "mood.read": 'nebula mood read "今天有点难过"',
    "mood.history": "nebula mood history --since 昨天",
    "mood.scan": "nebula mood scan",
    "mood.source": """nebula mood source file mood.json --map 'value=$.mood'
nebula mood source builtin""",
    "schedule.install": """nebula schedule install --at 22:05
nebula schedule install --print --system schtasks""",
    "schedule.status": "nebula schedule status",
    "schedule.remove": "nebula schedule remove",
    "mind.move": "nebula mind move elsewhere",
    "subject.init": 'nebula subject init 小周 --event "在码头等船。" --memory "渡轮=靠不住"',
    "subject.list": "nebula subject list",
    "subject.show": "nebula subject show 林小满",
    "subject.soul": "nebula subject soul 林小满",
    "subject.rm": "nebula subject rm 艾琳娜 --yes",
    "subject.check": "nebula subject check",
    "subject.event": 'nebula subject event 林小满 "她说她叫林汐。" --tick t2',
    "subject.tell": 'nebula subject tell 林小满 艾琳娜 1 --text "小满说有人把伞分给了她。"',
    "subject.diff": "nebula subject diff 林小满 艾琳娜",
    "subject.leak-test": "nebula subject leak-test",
    "subject.search": 'nebula subject search 林小满 "谁把伞分给我" --until-line 1',
    "subject.context": 'nebula subject context 林小满 --query "有人撑着蓝伞走过来"',
    "subject.save": """echo '{"events": [{"text": "雨停了。"}]}' | nebula subject save 林小满""",
    "subject.memory": """nebula subject memory 林小满
nebula subject memory 林小满 rename 撑蓝伞的姑娘 林汐 --why 认出来了
nebula subject memory 林小满 history""",
    "subject.index.status": "nebula subject index status",
    "subject.index.rebuild": "nebula subject index rebuild 林小满",
    "subject.index.delete": "nebula subject index delete",
    "subject.endpoint.set": """nebula subject endpoint set --url http://127.0.0.1:8080/v1 --model bge-m3 --dims 1024
nebula subject endpoint set builtin""",
    "subject.endpoint.show": "nebula subject endpoint show",
    "subject.endpoint.test": "nebula subject endpoint test",
    "config.get": "nebula config get recall.w_graph",
    "config.set": "nebula config set recall.w_graph 0.1",
    "config.unset": "nebula config unset recall.w_graph",
    "config.list": "nebula config list --explain",
    "bench.recall": "nebula bench recall questions",
}

#: Only those that say something in words.
_EN: Mapping[str, str] = {
    "add": """nebula add "The ferry leaves at six" --tag travel
nebula add "Give the book back to Zhou" -l promises --due "next Wednesday"
echo "one through a pipe" | nebula add -""",
    "edit": 'nebula edit n1 "The ferry now leaves at seven"',
    "tag": "nebula tag n1 travel",
    "set": "nebula set o1 due=tomorrow imp=0.9",
    "recall": """nebula recall "when does the ferry leave"
nebula recall ferry --since "last month" --explain
nebula recall ferry --as-of 2026-05-01 --json""",
    "list": """nebula list -l promises -n 5
nebula list --tag travel --all""",
    "context": """nebula context --query "do we sail tomorrow" --budget 800""",
    "why": """nebula why n1 "when does the ferry leave"
nebula why n1 "when does the ferry leave" -n 3 --json""",
    "why-not": 'nebula why-not n1 "what is on next week" --tag home',
    "surface": 'nebula surface --query "we were speaking of boats"',
    "longterm.edit": 'echo "Speak plainly" | nebula longterm edit -',
    "mood.feel": 'nebula mood feel happy 0.6 --why "got the tickets"',
    "mood.read": 'nebula mood read "I am a little sad today"',
    "mood.history": "nebula mood history --since yesterday",
}


def of(path: str, language: str) -> tuple[str, ...]:
    """The example lines of a command by its dotted path, of a group the first of each command in it."""
    text = (_EN.get(path) if language == "en" else None) or _ZH.get(path, "")
    inner = [name for name in _ZH if name.rpartition(".")[0] == path][: 0 if text or not path else OF_A_GROUP]
    return tuple(text.splitlines()) or tuple(of(name, language)[0] for name in inner)


def paths() -> set[str]:
    """The commands that have examples."""
    return set(_ZH) | set(_EN)
