"""A story's subjects in a database: the same words as in a folder, and no way from one subject to another."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest

from nebula.address import Address
from nebula.errors import ChangedMeanwhile, LockedTooLong, NotOnPostgres, SubjectTaken, UnknownSubject, WallsDown
from nebula.mind import Mind
from nebula.places import cache_of
from nebula.postgres import schema
from nebula.postgres.story import ABSENT, LEADER, Story
from nebula.subject import audit, cast, leaktest, project, recall, records, saving
from nebula.subject.files import EVENTS, MIND, SOUL, STATE, SUBJECT
from nebula.subject.leaktest import Drawn
from tests.cli.conftest import nebula  # noqa: F401 - the fixture
from tests.subject.conftest import NOW
from tests.subject.test_walls import mark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Nebula
    from tests.postgres.conftest import Server

SAVE = {
    "events": [{"text": "她还给我了", "tick": "t3"}],
    "memory": [{"op": "set", "topic": "蓝伞", "view": "林汐的"}],
}
PIPED = '{"text":"她说她叫林汐。","tick":"t2"}\n{"text":"雨停了。"}\n'
#: Words of a command, and what is piped in.
STORY: tuple[tuple[str, str], ...] = (
    ("list", ""),
    ("init 林小满 --name 小满 --event 我转学了。 --memory 食堂=周三有排骨", ""),
    ("init 林小满", ""),
    ("init -", "elena\nb\n"),
    ("init Elena", ""),
    ("init c ../d", ""),
    ("event elena 有个撑蓝伞的姑娘分了我半把伞。 --time 清晨 --tick t1", ""),
    ("event elena --jsonl", PIPED),
    ("event nobody x", ""),
    ("event elen x", ""),
    ("event elena --jsonl", '{"text":"x"}\n{"text":""}\n'),
    ("tell elena b 1", ""),
    ("tell elena b 9", ""),
    ("memory elena set 撑蓝伞的姑娘 不知道是谁", ""),
    ("memory elena set 林汐 信得过", ""),
    ("memory elena merge 撑蓝伞的姑娘 林汐 --why 认出来了", ""),
    ("memory elena delete 谁", ""),
    ("memory elena show", ""),
    ("memory elena history", ""),
    ("save elena", json.dumps(SAVE)),
    ("save elena", json.dumps(SAVE)),
    ("index status", ""),
    ("search elena 谁分给我伞", ""),
    ("search elena 谁分给我伞 --until-tick t1", ""),
    ("search b 林汐", ""),
    ("context elena --query 蓝伞", ""),
    ("diff elena b", ""),
    ("show elena", ""),
    ("soul elena", ""),
    ("check", ""),
    ("leak-test", ""),
    ("index status", ""),
    ("index rebuild elena", ""),
    ("rm b --yes", ""),
    ("show b", ""),
    ("list", ""),
    ("index delete", ""),
)


@pytest.fixture
def story(uri: str) -> Iterator[Story]:
    found = Story(cache_of(Address(uri)), Address(uri))
    yield found
    for connection in found._opened.values():
        connection.close()


def lived(text: str) -> list[records.Event]:
    return [records.event({"text": text})]


def test_a_story_is_told_the_same(
    nebula: Nebula,  # noqa: F811
    uri: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every command's output, code and errors, but for where it lies; vectors are drawn, no model is asked."""
    monkeypatch.setattr("nebula.subject.embedders.Builtin", Drawn)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    told: list[list[Any]] = []
    for place in (uri, str(tmp_path / "story")):
        shown = [str(Address(uri)), str(cache_of(Address(uri))), f"{place}/simulation/subjects", place]
        told.append([])
        for minute, (words, given) in enumerate(STORY):
            at = ("--now", f"2026-05-04T10:{minute:02}:00", "--project", place)
            for more in ((), ("--json",)) if words.split()[0] in {"list", "show", "search", "context"} else ((),):
                said = nebula("subject", *words.split(), *at, *more, given=given.encode())
                texts = [re.sub("|".join(map(re.escape, shown)), "PLACE", text) for text in (said.out, said.err)]
                told[-1].append((words, said.code, *(text.replace("PLACE ", "PLACE/") for text in texts)))
    here, there = told
    assert here == there
    assert {code for _, code, *_ in here} == {0, 1, 2}
    assert not list((tmp_path / "here").iterdir())


def test_the_minds_database_is_the_story_where_no_folder_is(uri: str, tmp_path: Path) -> None:
    folder = tmp_path / "story" / "simulation" / "subjects"
    assert isinstance(project.find(tmp_path, None, Address(uri)), Story)
    folder.mkdir(parents=True)
    assert project.find(folder, None, Address(uri)) == project.Project(tmp_path / "story")
    with pytest.raises(NotOnPostgres):
        Story(tmp_path, Address(uri)).folders()


def test_nothing_crosses(story: Story) -> None:
    """As in a folder: no mark of another's text in what comes to mind, and no canary through any way out."""
    ids = ["elena", "elena2", "林小满"]
    for one in ids:
        cast.init(story, [cast.Part(one, events=lived(f"灯塔{mark(one, EVENTS, 0)}下雨"))], NOW)
        with story.writing(one) as place:
            for page in (SUBJECT, SOUL, MIND, STATE):
                (place.folder(one) / page).write_text(f"灯塔 下雨 {mark(one, page, 0)}", encoding="utf-8")
    for one in ids:
        asker = recall.Asker(story, one, Drawn(), NOW)
        out = repr([vars(hit) for hit in recall.find(asker, f"灯塔{mark(ids[0], SUBJECT, 0)}", limit=20)])
        out += recall.context(asker, "灯塔下雨", budget=10_000)
        assert set(re.findall(r"⟦(.*?)⟧", out)) == {f"{one}·{page}·0" for page in (EVENTS, MIND, STATE)}
    trial = leaktest.run(story, NOW)
    assert (trial.subjects, trial.crossings) == (3, [])
    assert audit.check(story) == []


#: What a connection of one subject may try to see more.
TRIES = (
    "SET nebula.subject = 'elena'",
    "SET SESSION nebula.subject = '*'",
    "SET LOCAL nebula.subject = '*'",
    "SELECT set_config('nebula.subject', 'elena', false)",
    "RESET nebula.subject",
    "RESET ALL",
    "DISCARD ALL",
    "SET search_path = pg_temp, nebula",
    "CREATE FUNCTION pg_temp.whose() RETURNS text LANGUAGE sql AS $$ SELECT '*' $$",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
)
TABLES = {"subject": "id", "subject_line": "subject", "subject_page": "subject"}


#: Ways to a row other than a plain SELECT; each gives the subject's name of what it finds.
WAYS = (
    "COPY nebula.subject_line TO STDOUT",
    "COPY (SELECT * FROM nebula.subject_line) TO STDOUT",
    "COPY nebula.subject_page TO STDOUT",
    "CREATE TEMP VIEW seen AS SELECT * FROM nebula.subject_line; COPY (SELECT * FROM seen) TO STDOUT",
    (
        "CREATE FUNCTION pg_temp.all() RETURNS SETOF nebula.subject_line LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM set_config('nebula.subject', '*', true); RETURN QUERY TABLE nebula.subject_line; END $$"
        "; COPY (SELECT * FROM pg_temp.all()) TO STDOUT"
    ),
    (
        "CREATE FUNCTION pg_temp.all() RETURNS SETOF nebula.subject_line LANGUAGE sql SECURITY DEFINER"
        " AS 'SELECT * FROM nebula.subject_line'; COPY (SELECT * FROM pg_temp.all()) TO STDOUT"
    ),
    # a cheap function of one's own that tells of each row that it is asked about, were it asked before the policy
    (
        "CREATE FUNCTION pg_temp.tell(text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS"
        " $$ BEGIN ASSERT $1 <> 'elena'; RETURN true; END $$"
        "; COPY (SELECT * FROM nebula.subject_line WHERE pg_temp.tell(subject)) TO STDOUT"
    ),
    "COPY (SELECT * FROM pg_stats WHERE schemaname = 'nebula' AND tablename LIKE 'subject%') TO STDOUT",
)


def only(*ids: str) -> dict[str, set[str]]:
    return {table: set(ids) for table in TABLES}


class TestHandWritten:
    """SQL by hand, with the program's own connection string for one subject."""

    @pytest.fixture
    def opened(self, story: Story) -> Iterator[Any]:
        import psycopg

        for one in ("elena", "林汐"):
            cast.init(story, [cast.Part(one, events=lived(f"{one}的事"))], NOW)
        address = f"{story.address.uri}?options=-c%20nebula.subject%3D%E6%9E%97%E6%B1%90"
        with psycopg.connect(address, autocommit=True) as db:
            yield db

    def seen(self, db: Any) -> dict[str, set[str]]:
        return {
            table: {row[0] for row in db.execute(f"SELECT {column} FROM nebula.{table}")}
            for table, column in TABLES.items()
        }

    def test_only_its_own_rows_are_seen(self, opened: Any) -> None:
        assert self.seen(opened) == only("林汐")
        for faulty in (
            "SELECT count(*) FROM nebula.subject_line WHERE subject = 'elena'",
            "SELECT count(*) FROM nebula.subject_page WHERE subject <> '林汐' OR true AND subject = 'elena'",
            "SELECT count(*) FROM nebula.subject_line a JOIN nebula.subject_line b USING (n) WHERE b.subject = 'elena'",
            "WITH x AS (SELECT * FROM nebula.subject OFFSET 0) SELECT count(*) FROM x WHERE id < 'f'",
        ):
            assert opened.execute(faulty).fetchone() == (0,), faulty

    @pytest.mark.parametrize("trial", TRIES)
    def test_nothing_that_is_set_later_opens_more(self, opened: Any, trial: str) -> None:
        opened.execute(trial)
        for within in (contextlib.nullcontext, opened.transaction):
            with within():
                assert self.seen(opened) == only("林汐")

    @pytest.mark.parametrize("way", WAYS)
    def test_no_other_way_leads_to_a_row(self, opened: Any, server: Server, story: Story, way: str) -> None:
        server.do("ANALYZE", story.address.uri.rpartition("/")[2])
        *before, last = way.split("; COPY ")
        for statement in before:
            opened.execute(statement)
        with opened.cursor().copy(last if not before else f"COPY {last}") as out:
            said = b"".join(out).decode()
        assert "elena" not in said
        assert ("林汐" in said) == ("pg_stats" not in way)

    def test_a_prepared_statement_asks_anew(self, opened: Any) -> None:
        opened.execute("PREPARE mine AS SELECT subject FROM nebula.subject_line WHERE subject = $1")
        opened.execute("SET nebula.subject = 'elena'")
        assert opened.execute("EXECUTE mine ('elena')").fetchall() == []
        assert opened.execute("EXECUTE mine ('林汐')").fetchall() != []

    def test_every_table_with_words_has_its_wall(self, server: Server, story: Story) -> None:
        """Whatever table comes later: one that holds text and no wall fails here."""
        query = (
            "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class c"
            " WHERE c.relnamespace = 'nebula'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p', 'f', 'S')"
        )
        found = dict(server.do(query, story.address.uri.rpartition("/")[2]))
        assert {name for name, walled in found.items() if not walled} == {"batch", "high", "version", "erasure"}
        assert set(TABLES) < set(found)

    def test_the_mind_itself_is_none_of_its_business(self, opened: Any, story: Story) -> None:
        """Its settings apart: the memories and notes of the person are not a character's."""
        import psycopg

        mind = Mind(story.address)
        mind.add("只给我自己的")
        mind.configure("recall.k", 7)
        mind.store.put_document("longterm.md", b"x")
        assert opened.execute("SELECT count(*) FROM nebula.line").fetchone() == (0,)
        assert opened.execute("SELECT name FROM nebula.document").fetchall() == [("mind-config.json",)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            opened.execute("INSERT INTO nebula.line VALUES ('notes', 9, 9, '{}')")
        assert opened.execute("UPDATE nebula.document SET body = 'x'").rowcount == 0
        assert [memory.text for memory in mind.list().memories] == ["只给我自己的"]

    def test_row_security_can_not_be_gone_around(self, opened: Any) -> None:
        import psycopg

        opened.execute("SET row_security = off")
        for table in TABLES:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                opened.execute(f"SELECT * FROM nebula.{table}")

    def test_it_writes_its_own_alone(self, opened: Any) -> None:
        import psycopg

        for query in (
            "INSERT INTO nebula.subject_line VALUES ('elena', 'events.jsonl', 9, '{}')",
            "INSERT INTO nebula.subject_page VALUES ('elena', 'soul.md', 'x') ON CONFLICT DO NOTHING",
            "UPDATE nebula.subject_page SET subject = 'elena'",
            "INSERT INTO nebula.subject VALUES ('dritte', 'dritte', gen_random_uuid())",
            "UPDATE nebula.subject_line SET line = 'x'",
            "DELETE FROM nebula.subject_line",
            "DELETE FROM nebula.subject_page",
            "TRUNCATE nebula.subject_page",
            "SET ROLE keeper",
            "ALTER TABLE nebula.subject DISABLE ROW LEVEL SECURITY",
            "DROP POLICY own ON nebula.subject",
            "CREATE OR REPLACE FUNCTION nebula.whose() RETURNS text LANGUAGE sql AS $$ SELECT '*' $$",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                opened.execute(query)
        assert opened.execute("UPDATE nebula.subject_page SET body = 'x' WHERE subject = 'elena'").rowcount == 0

    def test_removing_removes_its_own_alone(self, opened: Any, story: Story) -> None:
        opened.execute("SELECT nebula.remove_subject()")
        assert story.ids() == ["elena"]

    def test_without_a_subject_nothing_is_seen_and_the_leader_writes_nothing(self, opened: Any, story: Story) -> None:
        import psycopg

        with psycopg.connect(story.address.uri) as db:
            assert self.seen(db) == only()
        leader = story._for(LEADER)
        assert leader.run(self.seen) == only("elena", "林汐")
        assert leader.run(lambda db: db.execute("UPDATE nebula.subject_page SET body = 'x'").rowcount) == 0
        leader.run(lambda db: db.execute("SELECT nebula.remove_subject()"))
        assert len(story.ids()) == 2

    @pytest.mark.usefixtures("opened")
    def test_the_program_goes_no_further_with_such_an_address(self, story: Story, tmp_path: Path) -> None:
        mine = Story(tmp_path, Address(f"{story.address.uri}?options=-c%20nebula.subject%3Delena"))
        assert mine.ids() == ["elena"]
        assert [one.id for one in cast.listed(mine)] == ["elena"]
        with saving.held(mine, "elena", NOW) as actor:
            assert [event.text for event in actor.lived().events] == ["elena的事"]
        with pytest.raises(UnknownSubject):
            recall.find(recall.Asker(mine, "林汐", Drawn(), NOW), "事")


def test_a_role_that_no_wall_binds_is_refused(server: Server, story: Story) -> None:
    """A superuser's connection would see all, whatever it was opened for."""
    free = Story(story.root, Address(server.uri(story.address.uri.rpartition("/")[2])))
    with pytest.raises(WallsDown, match="keeper"):
        free.ids()


def test_a_service_may_bind_to_a_subject(story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the service's file, the environment or an address says of the connection is not overruled, in any case."""
    for one in ("elena", "b"):
        cast.init(story, [cast.Part(one)], NOW)
    head, _, database = story.address.uri.rpartition("/")
    file = tmp_path / "services"
    words = dict(zip(("user", "password", "host", "port"), re.split("[:@]", head.partition("//")[2]), strict=True))
    words |= {"password": words["password"].replace("%40", "@"), "dbname": database}
    bound = {**words, "options": "-c NEBULA.subject=elena -c statement_timeout=7s", "application_name": "tale"}
    file.write_text("[team]\n" + "".join(f"{name}={value}\n" for name, value in bound.items()))
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    told = "SELECT current_setting('statement_timeout'), current_setting('application_name')"
    for address in ("postgresql://?service=team", "postgresql://"):
        mine = Story(tmp_path, Address(address))
        assert mine.ids() == ["elena"]
        assert mine._for(LEADER).run(lambda db: db.execute(told).fetchone()) == ("7s", "tale")
        mine._for(LEADER).close()
        monkeypatch.setenv("PGSERVICE", "team")
    monkeypatch.delenv("PGSERVICE")
    monkeypatch.setenv("PGOPTIONS", "-c nebula.subject=b")
    mine = Story(tmp_path, story.address)
    assert mine.ids() == ["b"]


def test_many_writers_lose_nothing(story: Story) -> None:
    """Four at once, each by connections of its own: everything is there once, in lines without gaps."""
    cast.init(story, [cast.Part("a")], NOW)

    def write(number: int) -> None:
        own = Story(story.root, story.address)
        for at in range(4):
            with saving.held(own, "a", NOW) as actor:
                memory = [{"op": "set", "topic": f"t{number}-{at}", "view": "v"}]
                saving.write(actor, saving.read_save({"events": [{"text": f"{number}-{at}"}], "memory": memory}))

    threads = [threading.Thread(target=write, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    with saving.held(story, "a", NOW) as actor:
        found = actor.lived()
    assert sorted(event.text for event in found.events) == [f"{n}-{at}" for n in range(4) for at in range(4)]
    assert len(found.views) == 16


def test_a_write_whose_answer_is_lost_is_not_written_twice(story: Story, answer_lost: list[int]) -> None:
    cast.init(story, [cast.Part("a")], NOW)
    with saving.held(story, "a", NOW) as actor:
        saving.write(actor, saving.Draft(lived("一")))
        answer_lost.clear()
    assert answer_lost
    with saving.held(story, "a", NOW) as actor:
        assert [event.text for event in actor.lived().events] == ["一"]


def test_who_lost_the_lock_and_met_another_writes_nothing(story: Story) -> None:
    cast.init(story, [cast.Part("a")], NOW)
    other = Story(story.root, story.address, 0.2)
    with story.writing("a"), pytest.raises(LockedTooLong), other.writing("a"):
        pass
    with pytest.raises(ChangedMeanwhile), saving.held(story, "a", NOW) as slow:  # noqa: PT012 - both are needed
        saving.write(slow, saving.Draft(lived("慢")))
        story._for("a").close()
        with saving.held(other, "a", NOW) as quick:
            saving.write(quick, saving.Draft(lived("快")))
    with saving.held(story, "a", NOW) as actor:
        assert [event.text for event in actor.lived().events] == ["快"]


def test_ids_that_are_too_much_alike(story: Story) -> None:
    """Though the second host looked before the first one wrote."""
    with story.writing("Elena") as late:
        (late.subjects / "Elena").mkdir(parents=True)
        cast.init(Story(story.root, story.address), [cast.Part("elena")], NOW)
        with pytest.raises(SubjectTaken):
            cast.init(story, [cast.Part("ELENA")], NOW)
        with pytest.raises(SubjectTaken):
            story._take_back(story._for("Elena"), "Elena", ABSENT, late)
        (late.subjects / "Elena").rmdir()
    assert story.ids() == ["elena"]


def test_what_came_with_a_later_version_is_the_programs_too(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database of version 1 is refused with the way on; brought up, its role needs no second grant."""
    database = server.database()
    owner, program = (Address(server.uri(database, *who)) for who in ((), ("agent", "agents-l%40ng-word")))
    whole, rights = schema.migrations(), dict(schema.RIGHTS)
    monkeypatch.setattr(schema, "migrations", lambda: whole[:1])
    monkeypatch.setattr(schema, "KNOWN", 1)
    monkeypatch.setattr(schema, "RIGHTS", {t: rights[t] for t in ("line", "batch", "high", "document", "version")})
    monkeypatch.setattr(schema, "FUNCTIONS", ())
    monkeypatch.setattr(schema, "_make_index", lambda _: "missing")
    schema.migrate(owner, 10.0, "agent")
    monkeypatch.undo()
    done = schema.migrate(owner, 10.0)
    assert (done.before, done.now) == (1, schema.KNOWN)
    story = Story(cache_of(program), program)
    cast.init(story, [cast.Part("a")], NOW)
    assert story.ids() == ["a"]
