/** A session at a server of the demo, like an application's. A failure to connect is a result here. */

export interface SessionAddress {
  readonly port: number
  readonly password: string
  readonly database: string
}

interface DemoSession {
  /** Returns the rows. Throws the driver's errors. */
  run(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]>
  end(): Promise<void>
}

/** Undefined while no server answers. */
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
  // A session that was ended from outside reports it at its next statement.
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch {
    // The server is not up; the caller tries again.
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
