"""What a subject recalls and comes to believe: subject search, context, save, memory, index."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation when it builds the command
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli import options  # noqa: TC001 - typer reads the annotation when it builds the command
from nebula.cli.command import Run, command
from nebula.cli.printing import FIT, Outcome, one_line
from nebula.cli.remember import given_text
from nebula.cli.subject import project_of, view_line
from nebula.errors import BadValue, WrongUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nebula.cli.printing import Line
    from nebula.subject.beliefs import Step, Views
    from nebula.subject.search import Found
    from nebula.subject.subject import Subject

#: What is done with a subject's views, and the words that each takes: (at least, at most).
ACTIONS = {
    "show": (0, 1), "set": (2, 2), "alias": (2, 99), "merge": (2, 2), "rename": (2, 2), "delete": (1, 1),
    "history": (0, 1),
}  # fmt: skip


def register(group: typer.Typer) -> None:
    """Add the commands of this module to the group `subject`."""
    own: dict[str, Callable[..., Outcome]] = {"search": search, "context": context, "save": save, "memory": memory}
    for name, body in own.items():
        command(group, name, anywhere=True)(body)
    inner = typer.Typer()
    group.add_typer(inner, name="index")
    of_index: dict[str, Callable[..., Outcome]] = {"status": status, "rebuild": rebuild, "delete": delete}
    for name, body in of_index.items():
        command(inner, name, anywhere=True)(body)


def subject_of(run: Run, project: str | None, subject: str) -> Subject:
    """The subject that is meant. Raises BadSubjectId, UnknownSubject."""
    return run.mind().subject(subject, project, run.environ)


def search(
    run: Run,
    subject: Annotated[str, typer.Argument(metavar="ID")],
    query: Annotated[str, typer.Argument(metavar="QUERY|-")],
    *,
    project: options.ProjectDir = None,
    source: Annotated[str, typer.Option("--source", metavar="events|memory")] = "",
    limit: options.SubjectLimit = 6,
    until_line: options.UntilLine = None,
    until_tick: options.UntilTick = "",
) -> Outcome:
    """What comes to a subject's mind: its own events and views only."""
    from nebula.subject import index

    if source and source not in index.SOURCES:
        raise BadValue("--source", source, " | ".join(index.SOURCES))
    who = subject_of(run, project, subject)
    sources = (source,) if source else index.SOURCES
    hits = who.search(given_text(query), sources=sources, limit=limit, until_line=until_line, until_tick=until_tick)
    none: list[Line] = [[(messages.say("subject.nothing"), "")]]
    lines = [_hit_line(hit) for hit in hits]
    return Outcome({"hits": [_hit_object(hit) for hit in hits]}, lines or none, 0 if hits else 1)


def _hit_object(hit: Found) -> dict[str, Any]:
    own = {"topic": hit.topic, "aliases": list(hit.aliases)} if hit.source == "memory" else {}
    event = {"time": hit.time, "tick": hit.tick, "kind": hit.kind, "from": dict(hit.origin)}
    return {
        "source": hit.source,
        "line": hit.line,
        **own,
        "text": hit.text,
        **{key: value for key, value in event.items() if value},
        "score": hit.score,
        "ranks": dict(hit.ranks),
        "cosine": hit.cosine,
        "share": hit.share,
    }


def _hit_line(hit: Found) -> Line:
    from nebula.recall.fusion import ROUTES

    labels = " ".join(f"{ROUTES[route]}#{rank}" for route, rank in hit.ranks.items())
    where = one_line(hit.topic) if hit.source == "memory" else f"{hit.line}"
    when = f"{one_line(hit.time)} " if hit.time else ""
    return [(f"{hit.score:.3f} [{labels}] ", "dim"), (f"{where}  ", "bold"), (when, "dim"), (one_line(hit.text), FIT)]


def context(
    run: Run,
    subject: Annotated[str, typer.Argument(metavar="ID")],
    *,
    project: options.ProjectDir = None,
    query: Annotated[str | None, typer.Option("--query", metavar="TEXT|-")] = None,
    scene: Annotated[Path | None, typer.Option("--scene", metavar="FILE")] = None,
    budget: Annotated[int, typer.Option("--budget", metavar="CHARACTERS", min=200)] = 4000,
) -> Outcome:
    """The block that an actor gets before its run."""
    from nebula.mindlib import files

    if (query is None) == (scene is None):
        raise WrongUsage("subject context ID --query TEXT | subject context ID --scene FILE", "just_one")
    who = subject_of(run, project, subject)
    text = files.read_given(scene).decode("utf-8", "replace") if scene else given_text(query)
    block = who.context(text, budget=budget)
    return Outcome({"context": block}, [[(line, "")] for line in block.splitlines()], verbatim=True)


def save(
    run: Run, subject: Annotated[str, typer.Argument(metavar="ID")], *, project: options.ProjectDir = None
) -> Outcome:
    """Events and changes of views as one transaction, from JSON on standard input."""
    who = subject_of(run, project, subject)
    saved = who.save(_json(given_text("-")))
    data = {"lines": list(saved.events), "topics": list(saved.topics), "repeated": saved.repeated}
    key = "subject.repeated" if saved.repeated else "subject.saved"
    told = messages.say(key, events=len(saved.events), topics=len(saved.topics))
    return Outcome(data, [[(told, "")]], notices=saved.notices)


def _json(text: str) -> dict[str, Any]:
    import orjson

    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadValue("stdin", error, '{"events": […], "memory": […]}') from error
    if not isinstance(found, dict):
        raise BadValue("stdin", text, '{"events": […], "memory": […]}')
    return found


def memory(
    run: Run,
    subject: Annotated[str, typer.Argument(metavar="ID")],
    action: Annotated[str, typer.Argument(metavar="show|set|alias|merge|rename|delete|history")] = "show",
    words: Annotated[list[str] | None, typer.Argument(metavar="[TOPIC …]")] = None,
    *,
    project: options.ProjectDir = None,
    alias: Annotated[list[str] | None, typer.Option("--alias", metavar="NAME")] = None,
    remove: Annotated[bool, typer.Option("--remove")] = False,
    view: Annotated[str, typer.Option("--view", metavar="TEXT")] = "",
    why: Annotated[str, typer.Option("--why", metavar="TEXT")] = "",
    tick: Annotated[str, typer.Option("--tick", metavar="TICK")] = "",
    as_of_line: Annotated[int | None, typer.Option("--as-of-line", metavar="N", min=0)] = None,
    as_of_tick: Annotated[str, typer.Option("--as-of-tick", metavar="TICK")] = "",
) -> Outcome:
    """A subject's settled views: shown, changed, and what was believed before."""
    from nebula.subject import cast, index, recall, saving

    given = words or []
    least, most = ACTIONS.get(action, (1, 0))
    if not least <= len(given) <= most:
        raise WrongUsage(f"subject memory {subject} {' | '.join(ACTIONS)}", "words")
    found = project_of(run, project)
    if action in {"show", "history"}:
        moment = recall.Moment(as_of_line, as_of_tick)
        return (_shown if action == "show" else _history)(run, found, subject, given, moment)
    change = _change(action, given, alias, view, why, remove=remove)
    with saving.held(found, subject, run.now(), run.lock_timeout, redact=run.mind().redacts) as actor:
        saved = saving.write(actor, saving.Draft((), [change], tick))
        views = actor.lived().views
    index.mark_dirty(cast.index_path(found), actor.subject)
    changed = [one for one in views if one.topic in saved.topics or set(one.aliases) & set(saved.topics)]
    data = {"topics": list(saved.topics), "memory": [one.to_object() for one in changed]}
    return Outcome(data, [view_line(one) for one in changed], notices=saved.notices)


def _change(
    action: str, words: Sequence[str], aliases: list[str] | None, view: str, why: str, *, remove: bool
) -> Callable[[Views], Sequence[Step]]:
    from nebula.subject import beliefs

    def change(views: Views) -> Sequence[Step]:
        if action == "set":
            return beliefs.set_view(views, words[0], given_text(words[1]), aliases, why)
        if action == "alias":
            names = list(words[1:])
            return beliefs.alias(views, words[0], [] if remove else names, names if remove else (), why)
        if action == "merge":
            return beliefs.merge(views, words[0], words[1], view, why)
        if action == "rename":
            return beliefs.rename(views, words[0], words[1], why)
        return beliefs.delete(views, words[0], why)

    return change


def _shown(run: Run, project: Any, subject: str, words: Sequence[str], moment: Any) -> Outcome:
    from nebula.subject import beliefs, saving

    with saving.held(project, subject, run.now(), run.lock_timeout) as actor:
        lived = actor.lived()
    views = beliefs.held(lived.versions, moment.of(lived))
    if words:
        views = [beliefs.find({one.topic: one for one in views}, words[0])]
    none: list[Line] = [[(messages.say("subject.no_views"), "")]]
    return Outcome({"memory": [one.to_object() for one in views]}, [view_line(one) for one in views] or none, long=True)


def _history(run: Run, project: Any, subject: str, words: Sequence[str], moment: Any) -> Outcome:
    from nebula.subject import files, saving

    with saving.held(project, subject, run.now(), run.lock_timeout) as actor:
        lived = actor.lived()
        rows = files.history(actor.folder)
    line = moment.of(lived)
    rows = [row for row in rows if line is None or (isinstance(row.get("line"), int) and row["line"] <= line)]
    rows = [row for row in rows if not words or words[0] in _names(row)]
    lines: list[Line] = [
        [
            (f"{row.get('line', '?'):>4} ", "dim"),
            (f"{messages.say('op.' + op) if (op := str(row.get('op'))) in OPS else one_line(op)}  ", "dim"),
            (f"{one_line(str(row.get('topic')))}  ", "bold"),
            (one_line(str((row.get("new") or {}).get("view", "—"))), FIT),
        ]
        for row in rows
    ]
    none: list[Line] = [[(messages.say("subject.no_views"), "")]]
    return Outcome({"history": rows}, lines or none, long=True)


OPS = ("set", "alias", "merge", "rename", "delete", "hand")


def _names(row: dict[str, Any]) -> set[str]:
    """Every name that a line of history speaks of."""
    sides = [side for key in ("old", "new") if isinstance(side := row.get(key), dict)]
    return {str(row.get("topic"))} | {str(name) for s in sides for name in (s.get("topic"), *(s.get("aliases") or []))}


def status(run: Run, *, project: options.ProjectDir = None) -> Outcome:
    """How the index of each subject stands."""
    from nebula.subject import recall

    found = recall.states(project_of(run, project))
    lines: list[Line] = [
        [
            (f"{one.subject}  {one.source}  ", "bold"),
            (messages.say(f"state.{one.state}"), "red" if one.state == "error" else ""),
            (f"  {one.chunks}", "dim"),
            (f"  {one_line(one.reason)}" if one.reason else "", FIT),
        ]
        for one in found
    ]
    none: list[Line] = [[(messages.say("subject.none", folder=project_of(run, project).where), "")]]
    return Outcome({"sources": [vars(one) for one in found]}, lines or none)


def rebuild(
    run: Run,
    subjects: Annotated[list[str] | None, typer.Argument(metavar="[ID…]")] = None,
    *,
    project: options.ProjectDir = None,
) -> Outcome:
    """Build the index of some subjects, or of all, anew."""
    found = project_of(run, project)
    wanted = subjects or list(found.ids())
    rows = [{"id": subject, "embedded": subject_of(run, project, subject).rebuild()} for subject in wanted]
    lines: list[Line] = [
        [(f"{r['id']}  ", "bold"), (messages.say("subject.embedded", n=r["embedded"]), "")] for r in rows
    ]
    return Outcome({"subjects": rows}, lines)


def delete(run: Run, *, project: options.ProjectDir = None) -> Outcome:
    """Delete the index; no memory is lost, the next search builds it again."""
    from nebula.subject import cast, index

    path = cast.index_path(project_of(run, project))
    there = index.drop(path)
    return Outcome({"deleted": there, "path": str(path)}, [[(messages.say("subject.index_gone", path=path), "")]])
