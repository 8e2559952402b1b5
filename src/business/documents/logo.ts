/**
 * The logo of a company: a PNG in base64. It is unpacked when it is written, so that no page and no PDF fails because
 * of it later.
 */

import { crc32, inflateSync } from 'node:zlib'

/** Characters of base64. */
export const logoLengthMax = 140_000
/** Pixels. */
const sideMax = 1_000
const signature = Buffer.from('89504e470d0a1a0a', 'hex')
/** Bytes of a pixel, by the type of its colour. */
const pixelBytes: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
const alphaColors: readonly unknown[] = [4, 6]
const filterMax = 4

/** What is wrong with a logo; undefined for a good one. */
export function wrongLogo(text: string): string | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (text === '' || (bytes.toString('base64') === text && isPng(bytes))) return undefined
  return `a still PNG in base64 was expected, not interlaced, of 8 bits a channel and at most ${sideMax} pixels wide and high.`
}

function isPng(bytes: Buffer): boolean {
  if (!bytes.subarray(0, 8).equals(signature)) return false
  const data: Buffer[] = []
  let head: Buffer | undefined
  let hasPalette = false
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at)
    if (end + 4 > bytes.length || crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end))
      return false
    const name = bytes.toString('latin1', at + 4, at + 8)
    const content = bytes.subarray(at + 8, end)
    if ((head === undefined) !== (name === 'IHDR') || name === 'acTL') return false
    // The format forbids it beside a channel of the same, and PDFs fail by it.
    if (name === 'tRNS' && alphaColors.includes(head?.[9])) return false
    if (name === 'IHDR') head = content
    else if (name === 'PLTE') hasPalette = true
    else if (name === 'IDAT') data.push(content)
    else if (name === 'IEND') return end + 4 === bytes.length && hasPixels(head, data, hasPalette)
    at = end + 4
  }
  return false
}

function hasPixels(
  head: Buffer | undefined,
  data: readonly Buffer[],
  hasPalette: boolean,
): boolean {
  if (head?.length !== 13) return false
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const [depth, color = -1, ...others] = head.subarray(8)
  const perPixel = pixelBytes[color]
  if (perPixel === undefined || depth !== 8 || others.some((one) => one !== 0)) return false
  if (Math.min(width, height) < 1 || Math.max(width, height) > sideMax) return false
  if (color === 3 && !hasPalette) return false
  const row = 1 + width * perPixel
  const pixels = unpacked(Buffer.concat(data), row * height)
  if (pixels?.length !== row * height) return false
  for (let at = 0; at < pixels.length; at += row) if ((pixels[at] ?? 0) > filterMax) return false
  return true
}

function unpacked(data: Buffer, maxOutputLength: number): Buffer | undefined {
  try {
    return inflateSync(data, { maxOutputLength })
  } catch {
    // The platform throws where the data is not packed, or is longer than that.
    return undefined
  }
}
