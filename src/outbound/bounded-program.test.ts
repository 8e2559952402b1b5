import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { withinMemory } from '#outbound/bounded-program.ts'

const run = promisify(execFile)

test('a program that reads what others send computes after the server', async () => {
  const command = withinMemory({ program: 'nice', args: [] }, 1e9)
  const { stdout } = await run(command.program, [...command.args])
  assert.equal(Number(stdout), Math.min(getPriority() + 10, 19))
})

test('its children have the bound of memory, too', async () => {
  const command = withinMemory(
    { program: 'sh', args: ['-c', 'sh -c "ulimit -v"'] },
    512 * 1024 * 1024,
  )
  const { stdout } = await run(command.program, [...command.args])
  assert.equal(Number(stdout), 512 * 1024)
})

test('where the system has no program that lowers a priority it runs all the same', async () => {
  const { program, args } = withinMemory({ program: '/bin/echo', args: ['runs'] }, 1e9)
  const { stdout } = await run(program, [...args], { env: { PATH: '/nowhere' } })
  assert.equal(stdout, 'runs\n')
})
