/** A session at a server of the demo, as an application has one. Failures to connect are an answer here. */

export interface SessionAddress {
  readonly port: number
  readonly password: string
  readonly database: string
}

interface DemoSession {
  /** Rows as they come. Throws what the driver throws. */
  run(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]>
  end(): Promise<void>
}

/** Undefined while nobody answers. */
export async function openSession({
  port,
  password,
  database,
}: SessionAddress): Promise<DemoSession | undefined> {
  const { Client } = (await import('pg')).default
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password,
    database,
    application_name: 'shop',
    connectionTimeoutMillis: 5_000,
  })
  // A session that is ended from outside says so at its next statement.
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch {
    // Not up yet, or not any more: whoever asked tries again.
    return undefined
  }
  return {
    async run(text, values = []) {
      const { rows } = await client.query<Record<string, unknown>>(text, [...values])
      return rows
    },
    end: () => client.end(),
  }
}
