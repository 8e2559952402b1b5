/** Completion in real shells: each loads its printed script. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { requireOrSkip } from '../../tests/require.ts'
import { runCli } from './testing/run-cli.ts'

/** The commands for a shell that has loaded the script. They print what it would offer. */
const asks: Readonly<Record<string, (words: string) => string>> = {
  bash: (words) => `source "$SCRIPT"
line='armature ${words}'; COMP_WORDS=($line); [[ $line == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _armature; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (words) => `compdef() { :; }; source "$SCRIPT"
compadd() { shift; printf '%s\\n' "$@"; }
words=(armature ${words} ''); CURRENT=\${#words}; _armature`,
  fish: (words) => `source $SCRIPT; complete -C 'armature ${words} '`,
}

for (const [shell, ask] of Object.entries(asks)) {
  test(`${shell} completes nouns, verbs, options and their choices`, async (t) => {
    const isThere = (() => {
      try {
        execFileSync(shell, ['-c', 'true'])
        return true
      } catch {
        // The shell is not installed.
        return false
      }
    })()
    if (!requireOrSkip(t, isThere, `no ${shell}: \`apt-get install ${shell}\``)) return
    const folder = mkdtempSync(join(tmpdir(), 'armature-completion-'))
    try {
      const script = join(folder, 'script')
      writeFileSync(script, (await runCli(['completion', shell])).out)
      const offered = (words: string): readonly string[] => {
        const line = shell === 'bash' ? `${words} ` : words
        const env = { ...process.env, SCRIPT: script, HOME: folder }
        const out = execFileSync(shell, ['-c', ask(line)], { encoding: 'utf8', env })
        return out.split('\n').map((one) => one.split('\t')[0] ?? '')
      }
      assert.ok(offered('role').includes('assignment'))
      assert.ok(offered('role assignment').includes('create'))
      assert.ok(offered('lock create keep --level').includes('CanNotDelete'))
      assert.ok(offered('lock create keep --output').includes('yaml'))
      assert.ok(offered('fault play').includes('region-outage'))
      assert.ok(offered('completion').includes('fish'))
      // fish offers options once a dash is typed.
      if (shell !== 'fish') assert.ok(offered('lock create keep').includes('--notes'))
      else assert.ok(!offered('lock create keep').includes('assignment'))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

test('a shell that nobody knows is refused', async () => {
  const { code, error } = await runCli(['completion', 'tcsh'])
  assert.equal(code, 2)
  assert.match(error, /one of bash, zsh, fish, not `tcsh`/)
})
