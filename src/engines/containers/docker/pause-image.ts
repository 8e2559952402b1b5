/**
 * The image of the sandbox: one static program of about 150 bytes that waits for ever. It is written here byte by
 * byte, so that holding a group's network needs no registry, compiler or download.
 */

import { writeTar } from './tar.ts'

/** `localhost/` keeps every engine from looking for it elsewhere. Raise the tag when the bytes change. */
export const pauseImage = 'localhost/armature/pause:1'

/** `eax = 34 (pause); syscall; again`. */
const amd64 = [0xb8, 0x22, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7]

/** `x0..x4 = 0; x8 = 73 (ppoll); svc 0; again`: the architecture has no `pause` call. */
const arm64 = [
  0xd2800000, 0xd2800001, 0xd2800002, 0xd2800003, 0xd2800004, 0xd2800928, 0xd4000001, 0x17fffff9,
]

const headersBytes = 64 + 56
const loadAddress = 0x400000n

/** A static ELF program for the engine's architecture; undefined for an unsupported one. */
export function pauseProgram(architecture: string): Buffer | undefined {
  if (architecture === 'amd64' || architecture === 'x86_64') return elf(62, Buffer.from(amd64))
  if (architecture !== 'arm64' && architecture !== 'aarch64') return undefined
  const code = Buffer.alloc(arm64.length * 4)
  for (const [index, word] of arm64.entries()) code.writeUInt32LE(word, index * 4)
  return elf(183, code)
}

/** The root file system of the image. */
export function pauseRoot(program: Uint8Array): Buffer {
  return writeTar([{ name: 'pause', mode: 0o755, bytes: program }])
}

function elf(machine: number, code: Buffer): Buffer {
  const head = Buffer.alloc(headersBytes)
  head.write('\u007fELF', 0, 'latin1')
  // 64 bit, little endian, version 1.
  head.set([2, 1, 1], 4)
  head.writeUInt16LE(2, 16)
  head.writeUInt16LE(machine, 18)
  head.writeUInt32LE(1, 20)
  head.writeBigUInt64LE(loadAddress + BigInt(headersBytes), 24)
  head.writeBigUInt64LE(64n, 32)
  // The sizes of this header and of a program header, and one program header.
  head.writeUInt16LE(64, 52)
  head.writeUInt16LE(56, 54)
  head.writeUInt16LE(1, 56)
  const size = BigInt(headersBytes + code.length)
  // One segment: the whole file, readable and executable.
  head.writeUInt32LE(1, 64)
  head.writeUInt32LE(5, 68)
  head.writeBigUInt64LE(loadAddress, 80)
  head.writeBigUInt64LE(loadAddress, 88)
  head.writeBigUInt64LE(size, 96)
  head.writeBigUInt64LE(size, 104)
  head.writeBigUInt64LE(0x1000n, 112)
  return Buffer.concat([head, code])
}
