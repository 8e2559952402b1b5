/**
 * The kinds of settings: what a value looks like and how it is parsed. Pure; it knows no setting by name and reads
 * nothing.
 */

export interface Setting<T> {
  readonly expected: string
  /** Written as in the environment and parsed like any value, so the default cannot break its own rule. */
  readonly default: string
  readonly description: string
  readonly secret?: true
  /** The environment gives text, the file any JSON value. */
  parse(raw: unknown): T | Wrong
}

/** The value is not valid. The message adds to `expected` where it can. */
export class Wrong {
  readonly message: string | undefined
  constructor(message?: string) {
    this.message = message
  }
}

type Rest<T> = Omit<Setting<T>, 'expected' | 'parse'>

export function text(
  expected: string,
  test: (value: string) => boolean,
  rest: Rest<string>,
): Setting<string> {
  const parse = (raw: unknown) => (typeof raw === 'string' && test(raw) ? raw : new Wrong())
  return { expected, parse, ...rest }
}

export function wholeNumber(min: number, max: number, rest: Rest<number>): Setting<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    parse(raw) {
      const value = typeof raw === 'string' && /^\d{1,15}$/.test(raw) ? Number(raw) : raw
      const fits =
        Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      return fits ? (value as number) : new Wrong() // `fits` holds for numbers only
    },
    ...rest,
  }
}

export function choice<const T extends string>(values: readonly T[], rest: Rest<T>): Setting<T> {
  return {
    expected: values.map((value) => `\`${value}\``).join(', '),
    parse: (raw) => values.find((value) => value === raw) ?? new Wrong(),
    ...rest,
  }
}

export function flag(rest: Rest<boolean>): Setting<boolean> {
  return {
    expected: '`true` or `false`',
    parse(raw) {
      if (raw === true || raw === 'true') return true
      return raw === false || raw === 'false' ? false : new Wrong()
    },
    ...rest,
  }
}

export function isUrl(value: unknown, protocols: readonly string[]): boolean {
  if (typeof value !== 'string') return false
  const url = URL.parse(value)
  return url !== null && protocols.includes(url.protocol) && url.hostname !== ''
}

/** An address that paths are appended to. */
export function isPublicUrl(value: string): boolean {
  const url = URL.parse(value)
  return (
    isUrl(value, ['http:', 'https:']) &&
    url?.search === '' &&
    url.hash === '' &&
    url.username === ''
  )
}

/** The message of whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const listMax = 100

/** A list of texts, separated by commas in the environment. `bad` returns the fault of a text. */
export function textList(
  expected: string,
  test: (value: string) => boolean,
  { bad, ...rest }: Omit<Rest<readonly string[]>, 'default'> & { readonly bad: string },
): Setting<readonly string[]> {
  return {
    expected,
    default: '',
    ...rest,
    parse(raw) {
      const list = typeof raw === 'string' ? raw.split(',').map((one) => one.trim()) : raw
      if (!Array.isArray(list) || list.length > listMax) return new Wrong()
      const given = list.filter((one) => one !== '')
      const wrong = given.find((one) => typeof one !== 'string' || !test(one))
      if (wrong !== undefined) return new Wrong(`${JSON.stringify(wrong)} ${bad}`)
      // The check above found each to be text.
      return given as readonly string[]
    },
  }
}
