-- Vectors of texts, made by whichever host comes first and lent to all others.
CREATE TABLE nebula.vector (
    model text NOT NULL,                      -- the encoder with its rules: others' vectors are no match
    hash bigint NOT NULL,                     -- of the text as it is searched
    pieces bytea NOT NULL,                    -- float32, little endian, one unit vector after another
    PRIMARY KEY (model, hash)
);
ALTER TABLE nebula.vector ALTER COLUMN pieces SET STORAGE EXTERNAL;  -- noise: nothing is gained by compressing it
ALTER TABLE nebula.vector SET (toast_tuple_target = 8160);           -- three to a page instead of one in three pieces
ALTER TABLE nebula.vector ENABLE ROW LEVEL SECURITY;
ALTER TABLE nebula.vector FORCE ROW LEVEL SECURITY;
CREATE POLICY mind ON nebula.vector USING (coalesce((SELECT nebula.whose()), '') = '');
CREATE POLICY leader ON nebula.vector FOR SELECT USING ((SELECT nebula.whose()) = '*');

-- When something was erased, by whom, and how many lines it took: what a host derived before must be read anew.
CREATE TABLE nebula.erasure (
    n bigint PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    role text NOT NULL DEFAULT session_user,
    lines bigint NOT NULL
);

CREATE OR REPLACE FUNCTION nebula.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('nebula.erasing', true) = 'on' THEN  -- by nebula.erase: nobody but the owner comes so far
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'a line once written is never changed' USING ERRCODE = 'insufficient_privilege';
END
$$;

-- The one way in which a line is changed: a memory becomes a stone that bears its id and no word, of other lines what
-- quotes it goes; an empty line stays in the place of one that goes. Vectors of texts by their hashes go with them.
CREATE FUNCTION nebula.erase(kinds text[], places bigint[], lines bytea[], hashes bigint[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    changed bigint;
BEGIN
    IF coalesce(nebula.whose(), '') <> '' THEN
        RAISE EXCEPTION 'a character of a story erases nothing of the mind' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF EXISTS (
        SELECT FROM unnest(kinds, places, lines) AS given (kind, n, line)
        JOIN nebula.line AS old USING (kind, n)
        WHERE old.id IS NOT NULL AND given.line <> ''
            AND convert_from(given.line, 'UTF8')::jsonb @> jsonb_build_object('id', old.id, 'text', '', 'erased', true)
                IS NOT TRUE
    ) THEN
        RAISE EXCEPTION 'a memory can only be erased' USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM set_config('nebula.erasing', 'on', true);
    UPDATE nebula.line AS old SET line = given.line
    FROM unnest(kinds, places, lines) AS given (kind, n, line) WHERE old.kind = given.kind AND old.n = given.n;
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('nebula.erasing', 'off', true);
    DELETE FROM nebula.vector WHERE hash = ANY (hashes);
    INSERT INTO nebula.erasure (n, lines) SELECT coalesce(max(n), 0) + 1, changed FROM nebula.erasure;
    RETURN changed;
END
$$;
REVOKE ALL ON FUNCTION nebula.erase FROM PUBLIC;
