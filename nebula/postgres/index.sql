-- What is derived from a mind's lines so that a host without an index recalls on the server. It may be thrown away at
-- any time (DROP SCHEMA nebula_index CASCADE) and is filled anew; the truth lies in the schema nebula alone.

CREATE SCHEMA nebula_index;

-- How far it was filled, in which way texts were read and by which encoder embedded; one row. `floor`: what queries
-- about nothing find.
CREATE TABLE nebula_index.state (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    format int NOT NULL,
    filled bytea NOT NULL,
    floor bytea NOT NULL
);

-- A memory's columns as a host's index has them (nebula.index.table); text stands in them as 64-bit hashes.
CREATE TABLE nebula_index.memory (
    r int PRIMARY KEY,                        -- its row, from 0, in the order of filling
    ledger smallint NOT NULL,
    id bigint NOT NULL,
    repeated boolean NOT NULL,
    uid bigint NOT NULL,
    at bigint NOT NULL,
    via bigint NOT NULL,
    text bigint NOT NULL,
    place bigint NOT NULL,                    -- of its line in nebula.line
    length bigint NOT NULL,
    terms int NOT NULL,
    never boolean NOT NULL,
    w float8 NOT NULL,
    imp float8 NOT NULL,
    e float8 NOT NULL,
    emo smallint NOT NULL,
    tag bigint NOT NULL,
    depth smallint NOT NULL,
    pinned boolean NOT NULL,
    hits bigint NOT NULL,
    last_hit bigint NOT NULL,
    valid_to bigint NOT NULL,
    summarised bigint NOT NULL,
    captured boolean NOT NULL,
    session bigint NOT NULL,
    turn bigint NOT NULL,
    speaker bigint NOT NULL
);
CREATE INDEX memory_id ON nebula_index.memory (id, ledger);
CREATE INDEX memory_uid ON nebula_index.memory (uid);
CREATE INDEX memory_text ON nebula_index.memory (text);
CREATE INDEX memory_at ON nebula_index.memory (at);
CREATE INDEX memory_session ON nebula_index.memory (session, turn) WHERE session <> 0;
CREATE INDEX memory_gone ON nebula_index.memory (valid_to);

-- Changed fields that a column can't give back, JSON.
CREATE TABLE nebula_index.strings (
    r int PRIMARY KEY,
    body bytea NOT NULL
);

-- The inverted index of our own tokens: of a term and a stretch of rows from `first` on the `count` rows that hold it.
-- `body`: for each its distance from `first` (uint16), how often it holds the term (uint16), and how many tokens it has
-- (int32), little endian, one array after another. Not GIN: that keeps no frequencies, and its operators are none that
-- the server lets an index answer below row-level security.
CREATE TABLE nebula_index.posting (
    term bigint NOT NULL,
    first int NOT NULL,
    count int NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (term, first) INCLUDE (count)
);
ALTER TABLE nebula_index.posting ALTER COLUMN body SET STORAGE EXTERNAL;

-- The vectors of a text's pieces in half precision, to find candidates by: nebula.vector has them whole.
CREATE TABLE nebula_index.piece (
    hash bigint NOT NULL,
    part int NOT NULL,
    v halfvec(512) NOT NULL,
    PRIMARY KEY (hash, part)
);

-- Texts of rows that wait for their vectors, and the first row that has each.
CREATE TABLE nebula_index.waiting (
    hash bigint PRIMARY KEY,
    r int NOT NULL
);

-- The index by which near vectors are found is quicker made over all than grown by each.
CREATE FUNCTION nebula_index.finish() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF coalesce(nebula.whose(), '') <> '' THEN
        RAISE EXCEPTION 'a character of a story sees nothing of the mind' USING ERRCODE = 'insufficient_privilege';
    END IF;
    CREATE INDEX IF NOT EXISTS piece_near ON nebula_index.piece USING hnsw (v halfvec_ip_ops)
        WITH (m = 16, ef_construction = 128);
END
$$;

-- Throw all of it away.
CREATE FUNCTION nebula_index.clear() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF coalesce(nebula.whose(), '') <> '' THEN
        RAISE EXCEPTION 'a character of a story sees nothing of the mind' USING ERRCODE = 'insufficient_privilege';
    END IF;
    TRUNCATE nebula_index.state, nebula_index.memory, nebula_index.strings, nebula_index.posting, nebula_index.piece,
        nebula_index.waiting;
    DROP INDEX IF EXISTS nebula_index.piece_near;
END
$$;
REVOKE ALL ON FUNCTION nebula_index.finish(), nebula_index.clear() FROM PUBLIC;

-- What was derived from an erased line goes with it, in the same transaction.
CREATE FUNCTION nebula_index.forget() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM nebula_index.clear();
    RETURN NULL;
END
$$;
CREATE TRIGGER index_forgets AFTER INSERT ON nebula.erasure FOR EACH STATEMENT EXECUTE FUNCTION nebula_index.forget();

DO $$
DECLARE
    name text;
BEGIN
    EXECUTE format('ALTER FUNCTION nebula_index.finish() SET search_path = pg_catalog, %s, pg_temp',
        (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'vector'));
    FOREACH name IN ARRAY ARRAY['state', 'memory', 'strings', 'posting', 'piece', 'waiting'] LOOP
        EXECUTE format('ALTER TABLE nebula_index.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE nebula_index.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY mind ON nebula_index.%I USING (coalesce((SELECT nebula.whose()), '''') = '''')',
            name);
    END LOOP;
END
$$;
