-- Characters of a story, each for itself: a connection sees the one that it was opened for, whatever it asks.

-- Whose connection this is: what its start said (`options=-c nebula.subject=ID`, `*` for the leader of the story), and
-- nothing that was SET since: RESET goes back to the start's value, and to none where it gave none.
CREATE FUNCTION nebula.whose() RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('nebula.subject', true) IS NULL THEN
        RETURN NULL;
    END IF;
    RESET nebula.subject;
    RETURN current_setting('nebula.subject', true);
END
$$;

CREATE TABLE nebula.subject (
    id text PRIMARY KEY CHECK (id NOT IN ('', '*')),
    key text NOT NULL UNIQUE,                 -- what no two ids may share
    state uuid NOT NULL                       -- drawn anew by every write: tells whether it is as it was read
);

-- What grows by lines: events, the history of views.
CREATE TABLE nebula.subject_line (
    subject text NOT NULL REFERENCES nebula.subject,
    name text NOT NULL,
    n bigint NOT NULL CHECK (n >= 0),
    line bytea NOT NULL,
    PRIMARY KEY (subject, name, n)
);

-- What is replaced as a whole: the pages, the views held now.
CREATE TABLE nebula.subject_page (
    subject text NOT NULL REFERENCES nebula.subject,
    name text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (subject, name)
);

-- Forced: it binds the tables' owner, too. The leader of the story reads every subject and writes none.
ALTER TABLE nebula.subject ENABLE ROW LEVEL SECURITY;
ALTER TABLE nebula.subject FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON nebula.subject USING (id = (SELECT nebula.whose()));
CREATE POLICY leader ON nebula.subject FOR SELECT USING ((SELECT nebula.whose()) = '*');

ALTER TABLE nebula.subject_line ENABLE ROW LEVEL SECURITY;
ALTER TABLE nebula.subject_line FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON nebula.subject_line USING (subject = (SELECT nebula.whose()));
CREATE POLICY leader ON nebula.subject_line FOR SELECT USING ((SELECT nebula.whose()) = '*');

ALTER TABLE nebula.subject_page ENABLE ROW LEVEL SECURITY;
ALTER TABLE nebula.subject_page FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON nebula.subject_page USING (subject = (SELECT nebula.whose()));
CREATE POLICY leader ON nebula.subject_page FOR SELECT USING ((SELECT nebula.whose()) = '*');

-- What the mind itself remembers is nobody's of the story; its leader may look.
ALTER TABLE nebula.line ENABLE ROW LEVEL SECURITY;
ALTER TABLE nebula.line FORCE ROW LEVEL SECURITY;
CREATE POLICY mind ON nebula.line USING (coalesce((SELECT nebula.whose()), '') = '');
CREATE POLICY leader ON nebula.line FOR SELECT USING ((SELECT nebula.whose()) = '*');

-- Nor are the long-term notes; the settings are everybody's to read.
ALTER TABLE nebula.document ENABLE ROW LEVEL SECURITY;
ALTER TABLE nebula.document FORCE ROW LEVEL SECURITY;
CREATE POLICY mind ON nebula.document USING (coalesce((SELECT nebula.whose()), '') = '');
CREATE POLICY leader ON nebula.document FOR SELECT USING ((SELECT nebula.whose()) = '*');
CREATE POLICY settings ON nebula.document FOR SELECT USING (name = 'mind-config.json');

CREATE TRIGGER line_stays BEFORE UPDATE OR TRUNCATE ON nebula.subject_line
    FOR EACH STATEMENT EXECUTE FUNCTION nebula.refuse();

-- The one way in which lines go, with all of the subject whose connection this is.
CREATE FUNCTION nebula.remove_subject() RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM nebula.subject_line WHERE subject = nebula.whose();
    DELETE FROM nebula.subject_page WHERE subject = nebula.whose();
    DELETE FROM nebula.subject WHERE id = nebula.whose();
$$;
