/**
 * Copies large objects piece by piece with their numbers, owners and grants, and updates them at the cutover, since
 * logical replication carries none of it (facts A.7, 5).
 */

import { quoteName, quoteText, type Session } from './connect.ts'

interface LargeObject {
  readonly oid: string
  readonly owner: string
  /** By others than its owner; as SQL, in an order of their own. */
  readonly grants: readonly string[]
  /** Those whom they are for; quoted. */
  readonly grantees: readonly string[]
  readonly comment: string | null
}

const granteeName = `CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END`
const grantsOfOthers = 'FROM pg_catalog.aclexplode(m.lomacl) a WHERE a.grantee <> m.lomowner'

const objectsQuery = `
SELECT m.oid::text, pg_catalog.pg_get_userbyid(m.lomowner) AS owner,
  ARRAY(SELECT pg_catalog.format('GRANT %s ON LARGE OBJECT %s TO %s%s',
      a.privilege_type, m.oid, ${granteeName}, CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) COLLATE "C"
    ${grantsOfOthers} ORDER BY 1) AS grants,
  ARRAY(SELECT DISTINCT ${granteeName} ${grantsOfOthers}) AS grantees,
  pg_catalog.obj_description(m.oid, 'pg_largeobject') AS comment
FROM pg_catalog.pg_largeobject_metadata m ORDER BY m.oid`

const pieceBytes = 1024 * 1024
const objectsAtOnce = 64

/** Objects whose content differs, or that are missing, are written; objects gone from the source are removed. */
interface LargeObjectOptions {
  /** False: the session's user owns the objects. */
  readonly owners: boolean
  /** Skips objects with equal content; without it every one is written. */
  readonly compare: boolean
  readonly signal: AbortSignal
  onBytes(bytes: number): void
}

/** `source` may be in a snapshot. Returns the number of objects written. */
export async function copyLargeObjects(
  source: Session,
  target: Session,
  options: LargeObjectOptions,
): Promise<number> {
  const wanted = await source.rows<LargeObject>(objectsQuery)
  const there = new Map(
    (await target.rows<LargeObject>(objectsQuery)).map((object) => [object.oid, object]),
  )
  if (wanted.length === 0 && there.size === 0) return 0
  const none = new Map<string, string>()
  const fromSource = options.compare ? await digests(source, options.signal) : none
  const fromTarget = options.compare ? await digests(target, options.signal) : none
  let written = 0
  for (const object of wanted) {
    options.signal.throwIfAborted()
    const made = there.get(object.oid)
    there.delete(object.oid)
    if (made === undefined) {
      await target.rows('SELECT pg_catalog.lo_create($1)', [object.oid])
    }
    await describe(target, { object, made, owners: options.owners })
    const digest = fromSource.get(object.oid)
    if (made !== undefined && digest !== undefined && digest === fromTarget.get(object.oid))
      continue
    await fill(source, target, object.oid, options)
    written += 1
  }
  for (const oid of there.keys()) await target.rows('SELECT pg_catalog.lo_unlink($1)', [oid])
  return written
}

/** Gives it the owner, grants and comment of the source's, where it has others. */
async function describe(
  target: Session,
  given: {
    readonly object: LargeObject
    readonly made: LargeObject | undefined
    readonly owners: boolean
  },
): Promise<void> {
  const { object, made, owners } = given
  const it = `LARGE OBJECT ${object.oid}`
  const statements: string[] = []
  if (owners && made?.owner !== object.owner) {
    statements.push(`ALTER ${it} OWNER TO ${quoteName(object.owner)}`)
  }
  if (owners && JSON.stringify(made?.grants ?? []) !== JSON.stringify(object.grants)) {
    const revoked = (made?.grantees ?? []).map((whom) => `REVOKE ALL ON ${it} FROM ${whom}`)
    statements.push(...revoked, ...object.grants)
  }
  if ((made?.comment ?? null) !== object.comment) {
    const text = object.comment === null ? 'NULL' : quoteText(object.comment)
    statements.push(`COMMENT ON ${it} IS ${text}`)
  }
  if (statements.length > 0) await target.run(statements.join('; '))
}

async function fill(
  source: Session,
  target: Session,
  oid: string,
  options: LargeObjectOptions,
): Promise<void> {
  await target.run('BEGIN')
  await target.run(`SELECT pg_catalog.lo_truncate(pg_catalog.lo_open(${oid}, 131072), 0)`)
  for (let offset = 0; ; offset += pieceBytes) {
    options.signal.throwIfAborted()
    const [row] = await source.rows<{ piece: Buffer }>(
      'SELECT pg_catalog.lo_get($1, $2, $3) AS piece',
      [oid, offset, pieceBytes],
    )
    const piece = row?.piece ?? Buffer.alloc(0)
    if (piece.length > 0) {
      await target.rows('SELECT pg_catalog.lo_put($1, $2, $3)', [oid, offset, piece])
      options.onBytes(piece.length)
    }
    if (piece.length < pieceBytes) break
  }
  await target.run('COMMIT')
}

/** Number to a digest of the content, computed piece by piece on the server; memory stays bounded on both. */
async function digests(session: Session, signal: AbortSignal): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const objects = await session.rows<{ oid: string }>(
    'SELECT oid::text FROM pg_catalog.pg_largeobject_metadata ORDER BY oid',
  )
  for (let at = 0; at < objects.length; at += objectsAtOnce) {
    signal.throwIfAborted()
    const some = objects.slice(at, at + objectsAtOnce).map(({ oid }) => oid)
    const rows = await session.rows<{ oid: string; digest: string }>(
      `SELECT o::text AS oid, (
         WITH RECURSIVE piece (at, bytes) AS (
           SELECT 0::bigint, pg_catalog.lo_get(o, 0, ${pieceBytes})
           UNION ALL
           SELECT at + ${pieceBytes}, pg_catalog.lo_get(o, at + ${pieceBytes}, ${pieceBytes})
           FROM piece WHERE pg_catalog.length(bytes) = ${pieceBytes})
         SELECT pg_catalog.md5(pg_catalog.string_agg(pg_catalog.md5(bytes), '' ORDER BY at)) FROM piece
       ) AS digest FROM pg_catalog.unnest($1::oid[]) o`,
      [some],
    )
    for (const { oid, digest } of rows) found.set(oid, digest)
  }
  return found
}
