/**
 * The tables of a PostgreSQL store, and the function that checks and writes a batch: one round trip, one transaction.
 *
 * - Two batches wait for each other only if one writes a key that the other names: each takes one lock per key, shared for
 *   reads, in the order of the locks' numbers, so that there is no deadlock. The locks end with the transaction.
 * - The transaction's own number (xid) and the revision are taken after the locks, so that for one key both grow from
 *   batch to batch.
 * - The cursor of a watch is a snapshot: its next changes are those of transactions that were not visible in it and are now.
 *   In the order of revisions, a slow transaction could appear behind a watch's cursor and be missed.
 * - No NOTIFY in these transactions: PostgreSQL would commit them one at a time.
 */

export const SCHEMA_VERSION = 1
/** Of the functions: they are replaced by newer ones, which take and answer the same, so that older programs go on with them. */
export const FUNCTIONS_VERSION = 3

/** `schema` is a plain identifier. */
export function tablesSql(schema: string): string {
  return `
CREATE TABLE ${schema}.entries (
  key text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL,
  revision bigint NOT NULL,
  expires_at timestamptz
);
CREATE INDEX entries_expiring ON ${schema}.entries (expires_at) WHERE expires_at IS NOT NULL;
CREATE SEQUENCE ${schema}.revisions;
CREATE TABLE ${schema}.changes (
  xid xid8 NOT NULL,
  revision bigint NOT NULL,
  position integer NOT NULL,
  key text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  PRIMARY KEY (xid, revision, position)
);
CREATE TABLE ${schema}.state (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version integer NOT NULL,
  epoch text NOT NULL,
  forgotten xid8 NOT NULL
);
INSERT INTO ${schema}.state (version, epoch, forgotten)
  VALUES (${SCHEMA_VERSION}, gen_random_uuid()::text, '0');
`
}

/** `schema` is a plain identifier. */
export function functionsSql(schema: string): string {
  return `
CREATE OR REPLACE FUNCTION ${schema}.lock_of(name text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $body$
  SELECT hashtextextended('${schema}:' || name, 0)
$body$;

CREATE OR REPLACE FUNCTION ${schema}.lock_keys(looked_at text[], written text[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $body$
BEGIN
  -- The functions are called on the sorted rows.
  PERFORM CASE WHEN is_written THEN pg_advisory_xact_lock(number) ELSE pg_advisory_xact_lock_shared(number) END FROM (
    SELECT number, bool_or(writes) AS is_written FROM (
      SELECT hashtextextended('${schema}:' || name, 0) AS number, false AS writes FROM unnest(looked_at) AS name
      UNION ALL SELECT hashtextextended('${schema}:' || name, 0), true FROM unnest(written) AS name
    ) AS named GROUP BY number ORDER BY number
  ) AS locks;
END $body$;

-- Leaves alone what somebody is just writing.
CREATE OR REPLACE FUNCTION ${schema}.remove_expired(most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $body$
DECLARE removed integer;
BEGIN
  WITH due AS MATERIALIZED (
    SELECT key FROM ${schema}.entries WHERE expires_at <= clock_timestamp() ORDER BY expires_at LIMIT most
  ), mine AS MATERIALIZED (
    SELECT key FROM due WHERE pg_try_advisory_xact_lock(${schema}.lock_of(key))
  ), gone AS (
    DELETE FROM ${schema}.entries e USING mine
    WHERE e.key = mine.key AND e.expires_at <= clock_timestamp() RETURNING e.key
  ), told AS (
    INSERT INTO ${schema}.changes
    SELECT pg_current_xact_id(), nextval('${schema}.revisions'), 0, gone.key, 'delete' FROM gone RETURNING 1
  )
  SELECT count(*) INTO removed FROM told;
  RETURN removed;
END $body$;

-- Forgets changes, but for the last so many.
CREATE OR REPLACE FUNCTION ${schema}.forget_changes(kept integer) RETURNS void LANGUAGE plpgsql VOLATILE AS $body$
DECLARE below xid8;
BEGIN
  SELECT xid INTO below FROM ${schema}.changes ORDER BY xid DESC OFFSET kept LIMIT 1;
  IF below IS NULL THEN RETURN; END IF;
  UPDATE ${schema}.state SET forgotten = below WHERE forgotten < below;
  IF FOUND THEN DELETE FROM ${schema}.changes WHERE xid < below; END IF;
END $body$;

-- Conditions and operations as parallel arrays. Answers the revision, or the conditions that did not hold.
CREATE OR REPLACE FUNCTION ${schema}.commit_batch(
  condition_keys text[], condition_kinds text[], condition_revisions bigint[],
  operation_keys text[], operation_kinds text[], operation_values bytea[], operation_ttls bigint[]
) RETURNS TABLE (revision bigint, unmet_key text, unmet_revision bigint) LANGUAGE plpgsql VOLATILE AS $body$
#variable_conflict use_column
DECLARE
  mine bigint;
  number integer := 0;
  name text;
  found_revision bigint;
  is_refused boolean := false;
BEGIN
  PERFORM ${schema}.lock_keys(condition_keys, operation_keys);
  FOR at IN 1 .. coalesce(array_length(condition_keys, 1), 0) LOOP
    name := condition_keys[at];
    found_revision := (
      SELECT e.revision FROM ${schema}.entries e
      WHERE e.key = name AND (e.expires_at IS NULL OR e.expires_at > clock_timestamp())
    );
    IF NOT (CASE condition_kinds[at]
      WHEN 'absent' THEN found_revision IS NULL
      WHEN 'present' THEN found_revision IS NOT NULL
      ELSE coalesce(found_revision = condition_revisions[at], false)
    END) THEN
      is_refused := true;
      RETURN QUERY SELECT NULL::bigint, name, found_revision;
    END IF;
  END LOOP;
  IF is_refused THEN RETURN; END IF;
  mine := nextval('${schema}.revisions');
  FOR at IN 1 .. coalesce(array_length(operation_keys, 1), 0) LOOP
    name := operation_keys[at];
    IF operation_kinds[at] = 'put' THEN
      INSERT INTO ${schema}.entries AS e (key, value, revision, expires_at)
      VALUES (name, operation_values[at], mine, clock_timestamp() + operation_ttls[at] * interval '1 millisecond')
      ON CONFLICT (key) DO UPDATE
        SET value = excluded.value, revision = excluded.revision, expires_at = excluded.expires_at;
    ELSE
      DELETE FROM ${schema}.entries e WHERE e.key = name;
      IF NOT FOUND THEN CONTINUE; END IF;
    END IF;
    INSERT INTO ${schema}.changes VALUES (pg_current_xact_id(), mine, number, name, operation_kinds[at]);
    number := number + 1;
  END LOOP;
  RETURN QUERY SELECT mine, NULL::text, NULL::bigint;
END $body$;

-- Several batches, each with its own conditions, in one transaction. None may write a key that another names. Answers the conditions
-- that did not hold, with the number of their batch, and the revision of all batches that happened.
CREATE OR REPLACE FUNCTION ${schema}.commit_group(
  condition_batches integer[], condition_keys text[], condition_kinds text[], condition_revisions bigint[],
  put_batches integer[], put_keys text[], put_values bytea[], put_ttls bigint[],
  delete_batches integer[], delete_keys text[]
) RETURNS TABLE (revision bigint, batch integer, unmet_key text, unmet_revision bigint) LANGUAGE plpgsql VOLATILE
-- Otherwise it would be planned anew for each call, as it takes arrays for long; and a table that is still small is read whole.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $body$
#variable_conflict use_column
DECLARE
  mine bigint;
  refused integer[] := '{}';
  unmet record;
BEGIN
  PERFORM ${schema}.lock_keys(condition_keys, put_keys || delete_keys);
  FOR unmet IN
    SELECT * FROM (
      SELECT c.batch, c.key, c.kind, c.wanted, (
        SELECT e.revision FROM ${schema}.entries e
        WHERE e.key = c.key AND (e.expires_at IS NULL OR e.expires_at > clock_timestamp())
      ) AS found
      FROM unnest(condition_batches, condition_keys, condition_kinds, condition_revisions) AS c (batch, key, kind, wanted)
      OFFSET 0
    ) AS looked_at
    WHERE NOT CASE kind
      WHEN 'absent' THEN found IS NULL
      WHEN 'present' THEN found IS NOT NULL
      ELSE coalesce(found = wanted, false)
    END
  LOOP
    refused := refused || unmet.batch;
    RETURN QUERY SELECT NULL::bigint, unmet.batch, unmet.key, unmet.found;
  END LOOP;
  mine := nextval('${schema}.revisions');
  IF cardinality(put_keys) > 0 THEN
    INSERT INTO ${schema}.entries AS e (key, value, revision, expires_at)
    SELECT p.key, p.value, mine, clock_timestamp() + p.ttl * interval '1 millisecond'
    FROM unnest(put_batches, put_keys, put_values, put_ttls) AS p (batch, key, value, ttl) WHERE p.batch <> ALL (refused)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision, expires_at = excluded.expires_at;
    INSERT INTO ${schema}.changes
    SELECT pg_current_xact_id(), mine, p.number, p.key, 'put'
    FROM unnest(put_batches, put_keys) WITH ORDINALITY AS p (batch, key, number) WHERE p.batch <> ALL (refused);
  END IF;
  IF cardinality(delete_keys) > 0 THEN
    WITH gone AS (
      DELETE FROM ${schema}.entries e WHERE e.key = ANY (ARRAY (
        SELECT d.key FROM unnest(delete_batches, delete_keys) AS d (batch, key) WHERE d.batch <> ALL (refused)
      )) RETURNING e.key
    )
    INSERT INTO ${schema}.changes
    SELECT pg_current_xact_id(), mine, cardinality(put_keys) + row_number() OVER (), gone.key, 'delete' FROM gone;
  END IF;
  RETURN QUERY SELECT mine, NULL::integer, NULL::text, NULL::bigint;
END $body$;

-- The first keys from a place on and below another.
CREATE OR REPLACE FUNCTION ${schema}.keys_in(low text, high text, most integer) RETURNS text[]
LANGUAGE plpgsql STABLE AS $body$
BEGIN
  -- Two queries: a plan made for both would read on to the end of the table.
  IF high IS NULL THEN
    RETURN ARRAY (SELECT key FROM ${schema}.entries WHERE key >= low COLLATE "C" ORDER BY key LIMIT most);
  END IF;
  RETURN ARRAY (
    SELECT key FROM ${schema}.entries WHERE key >= low COLLATE "C" AND key < high COLLATE "C" ORDER BY key LIMIT most
  );
END $body$;

-- Deletes some of the keys of each range; tells how many of each had not expired, and how many keys there were in all.
CREATE OR REPLACE FUNCTION ${schema}.clear_each(
  lows text[], highs text[], most integer, OUT alive integer[], OUT cleared integer
) LANGUAGE plpgsql VOLATILE AS $body$
DECLARE
  names text[] := '{}';
  places integer[] := '{}';
  found text[];
  mine bigint;
BEGIN
  FOR at IN 1 .. cardinality(lows) LOOP
    EXIT WHEN cardinality(names) >= most;
    found := ${schema}.keys_in(lows[at], highs[at], most - cardinality(names));
    names := names || found;
    places := places || array_fill(at, ARRAY[cardinality(found)]);
  END LOOP;
  alive := array_fill(0, ARRAY[cardinality(lows)]);
  cleared := cardinality(names);
  IF cleared = 0 THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(number) FROM (
    SELECT DISTINCT ${schema}.lock_of(name) AS number FROM unnest(names) AS name ORDER BY number
  ) AS named;
  mine := nextval('${schema}.revisions');
  WITH gone AS (
    DELETE FROM ${schema}.entries WHERE key = ANY (names) RETURNING key, expires_at
  ), told AS (
    INSERT INTO ${schema}.changes
    SELECT pg_current_xact_id(), mine, row_number() OVER (), gone.key, 'delete' FROM gone
  ), counted AS (
    SELECT place, count(*)::integer AS number FROM gone JOIN unnest(names, places) AS each (name, place) ON name = key
    WHERE expires_at IS NULL OR expires_at > clock_timestamp() GROUP BY place
  )
  SELECT array_agg(coalesce(number, 0) ORDER BY at) INTO alive
  FROM generate_series(1, cardinality(lows)) AS at LEFT JOIN counted ON place = at;
END $body$;

-- As clear_each, of one range.
CREATE OR REPLACE FUNCTION ${schema}.clear_some(low text, high text, most integer, OUT alive integer, OUT cleared integer)
LANGUAGE plpgsql VOLATILE AS $body$
BEGIN
  SELECT each.alive[1], each.cleared INTO alive, cleared
  FROM ${schema}.clear_each(ARRAY[low], ARRAY[high], most) AS each;
END $body$;

COMMENT ON FUNCTION ${schema}.clear_some IS 'perago ${FUNCTIONS_VERSION}';
`
}
