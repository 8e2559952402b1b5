/**
 * Decides which passwords are accepted: long enough, not a common one, not made of the account's own name. The list
 * of common passwords is loaded when the first password is set.
 */

import { refuseIdentity } from './errors.ts'
import type { IdentityLimits } from './limits.ts'

/** The names of the account, which must not be its password. */
interface AccountNames {
  readonly displayName: string
  readonly signInName: string
}

/** A password with fewer different characters is a pattern, whatever its length. */
const differentMin = 5
/** Shorter parts of a name may occur by chance. */
const namePartMin = 4

let loading: Promise<ReadonlySet<string>> | undefined

async function loadCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'])
}

/** Throws `InvalidPassword` for the first rule that is broken. */
export async function checkPassword(
  password: string,
  names: AccountNames,
  limits: Pick<IdentityLimits, 'passwordLengthMin' | 'passwordLengthMax'>,
): Promise<void> {
  const { passwordLengthMin: min, passwordLengthMax: max } = limits
  // The maximum is counted in code units, which is cheap; the minimum is counted as a person counts.
  if (password.length > max) throw refuse(`it may have at most ${max} characters`)
  const characters = [...password]
  if (characters.length < min) throw refuse(`it needs at least ${min} characters`)
  if (new Set(characters).size < differentMin) {
    throw refuse(`it needs at least ${differentMin} different characters`)
  }
  const plain = password.normalize('NFKC').toLowerCase()
  const part = namePartsOf(names).find((one) => plain.includes(one))
  if (part !== undefined) throw refuse('it contains the name of the account')
  loading ??= loadCommon()
  const common = await loading
  if (spellingsOf(plain).some((spelling) => common.has(spelling))) {
    throw refuse('it is a common password, or one with little added')
  }
}

/** The parts are the sign-in name, its part before the `@`, and the words of the display name. */
function namePartsOf({ displayName, signInName }: AccountNames): readonly string[] {
  const lower = (text: string): string => text.normalize('NFKC').toLowerCase()
  const name = lower(signInName)
  const parts = [name, name.split('@')[0] ?? '', ...lower(displayName).split(/[^\p{L}\p{N}]+/u)]
  return parts.filter((part) => part.length >= namePartMin)
}

const substitutes: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '0': 'o',
  '3': 'e',
  '1': 'l',
  '!': 'i',
  $: 's',
  '5': 's',
  '7': 't',
}

/**
 * The password as written, without signs around the letters, and with signs replaced by the letters they resemble.
 */
function spellingsOf(plain: string): readonly string[] {
  const bare = /\p{L}(?:.*\p{L})?/su.exec(plain)?.[0] ?? ''
  const read = (text: string): string =>
    text.replace(/[@4031!$57]/g, (sign) => substitutes[sign] ?? sign)
  // Signs at the end are usually additions; signs in the middle replace letters.
  return [plain, bare, read(plain), read(bare)].filter((spelling) => spelling !== '')
}

function refuse(reason: string): Error {
  return refuseIdentity.InvalidPassword({ reason }, { target: 'password' })
}
