/** IP addresses and networks as numbers. Other texts are not guessed at. */

export interface Network {
  /** The first address: all bits after the prefix are zero. */
  readonly address: bigint
  readonly prefix: number
  /** 32 or 128. */
  readonly bits: number
}

/** Undefined when the text is no network. Any address of a network may be given to mean the network. */
export function readNetwork(text: string): Network | undefined {
  const [, address = '', digits = ''] = /^([0-9a-fA-F.:]{2,45})\/([0-9]{1,3})$/.exec(text) ?? []
  const prefix = Number(digits)
  const isV6 = address.includes(':')
  const bits = isV6 ? 128 : 32
  const value = isV6 ? readV6(address) : readV4(address)
  if (value === undefined || digits === '' || prefix > bits) return undefined
  const host = BigInt(bits - prefix)
  return { address: (value >> host) << host, prefix, bits }
}

function readV4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((one) => /^(?:0|[1-9][0-9]{0,2})$/.test(one))) {
    return undefined
  }
  if (parts.some((one) => Number(one) > 255)) return undefined
  return parts.reduce((sum, one) => (sum << 8n) | BigInt(one), 0n)
}

function readV6(text: string): bigint | undefined {
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0) return undefined
  const front = groupsOf(head)
  const back = tail === undefined ? [] : groupsOf(tail)
  if (front === undefined || back === undefined) return undefined
  const missing = 8 - front.length - back.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...front, ...Array.from({ length: missing }, () => 0), ...back]
  return groups.reduce((sum, one) => (sum << 16n) | BigInt(one), 0n)
}

/** Groups of sixteen bits; the last two may be written as an IPv4 address. */
function groupsOf(text: string): readonly number[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  const last = parts.at(-1) ?? ''
  const v4 = last.includes('.') ? readV4(last) : undefined
  const own = last.includes('.') ? parts.slice(0, -1) : parts
  if (last.includes('.') && v4 === undefined) return undefined
  if (!own.every((one) => /^[0-9a-fA-F]{1,4}$/.test(one))) return undefined
  const groups = own.map((one) => Number.parseInt(one, 16))
  return v4 === undefined ? groups : [...groups, Number(v4 >> 16n), Number(v4 & 0xffffn)]
}

/** An IPv6 address in its shortest form (RFC 5952). */
export function writeAddress(address: bigint, bits: number): string {
  if (bits === 32) {
    return [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 255n)).join('.')
  }
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((address >> BigInt(16 * (7 - index))) & 0xffffn).toString(16),
  )
  const { start, length } = longestZeros(groups)
  if (length < 2) return groups.join(':')
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`
}

function longestZeros(groups: readonly string[]): {
  readonly start: number
  readonly length: number
} {
  let found = { start: 0, length: 0 }
  let run = 0
  for (const [index, group] of groups.entries()) {
    run = group === '0' ? run + 1 : 0
    if (run > found.length) found = { start: index - run + 1, length: run }
  }
  return found
}
