/** A PNG of one colour, as a company's logo; of four numbers where it is transparent. */

import { crc32, deflateSync } from 'node:zlib'

export function pngOf(
  width: number,
  height: number,
  color: readonly number[],
  ...others: readonly (readonly [name: string, content: Buffer])[]
): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, color.length === 4 ? 6 : 2, 0, 0, 0], 8)
  const row = [0, ...Array.from({ length: width }, () => color).flat()]
  const rows = Buffer.from(Array.from({ length: height }, () => row).flat())
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const between = others.map(([name, content]) => chunk(name, content))
  const pixels = chunk('IDAT', deflateSync(rows))
  return Buffer.concat([signature, chunk('IHDR', head), ...between, pixels, chunk('IEND')])
}

function chunk(name: string, content: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(content.length, 0)
  ends.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
}
