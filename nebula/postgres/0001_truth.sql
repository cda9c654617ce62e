-- The truth of a mind: every line of every ledger, in order, never changed. Run by the owner, in one transaction.

CREATE TABLE nebula.line (
    kind text NOT NULL,                       -- a ledger's name, or a side ledger's file name
    n bigint NOT NULL CHECK (n >= 0),         -- its place, from 0, without gaps
    id bigint,                                -- of a memory, where the line is one
    line bytea NOT NULL,                      -- its bytes, without the newline
    PRIMARY KEY (kind, n)
);
CREATE INDEX line_id ON nebula.line (kind, id) WHERE id IS NOT NULL;

-- One row an append: how a writer whose connection was lost knows that it was committed all the same.
CREATE TABLE nebula.batch (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
);

-- Ids above all that a ledger holds and that some change names: they are never given again.
CREATE TABLE nebula.high (
    kind text NOT NULL,
    id bigint NOT NULL,
    PRIMARY KEY (kind, id)
);

-- What is replaced as a whole: the settings, the long-term notes.
CREATE TABLE nebula.document (
    name text PRIMARY KEY,
    body bytea NOT NULL
);

-- Rights keep every other role from changing a line; this keeps the owner from doing it by mistake.
CREATE FUNCTION nebula.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a line once written is never changed' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER line_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON nebula.line
    FOR EACH STATEMENT EXECUTE FUNCTION nebula.refuse();
