import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureOf } from './failure.ts'

test('of a long message of an engine both ends are judged and shown', () => {
  const named = 'removal '.repeat(8_000)
  const message = `crun: '${named}': executable file not found in $PATH`
  const { kind, message: shown } = failureOf(
    500,
    JSON.stringify({ message }),
    'start the container',
  )
  assert.equal(kind, 'refused')
  assert.match(shown, /^start the container: crun: 'removal .*executable file not found in \$PATH$/)
  assert.ok(shown.length < 2_000)
})

test('a user that the image does not have is refused, as Docker says it', () => {
  const message = 'unable to find user nobody-here: no matching entries in passwd file'
  assert.equal(failureOf(500, JSON.stringify({ message }), 'start').kind, 'refused')
})

test('a container that is being removed is busy', () => {
  const message = 'removal of container 3f2a is already in progress'
  assert.equal(failureOf(500, JSON.stringify({ message }), 'remove').kind, 'busy')
})
