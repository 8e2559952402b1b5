/** `trust`: prints how systems and clients come to trust this installation's authority, or does it. */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findAuthority, fingerprintOf, storeNameOf } from '../authority.ts'
import { type Command, defineCommand, LocalProblem } from '../command.ts'
import { printData } from '../output/print.ts'
import { quote } from './demo/format-call.ts'

type CommandLine = readonly [program: string, ...words: string[]]

/** The commands that add a certificate to a system's store, and how to detect the system. */
interface TrustStore {
  readonly system: string
  readonly isHere: () => boolean
  readonly commands: (file: string, name: string) => readonly CommandLine[]
}

const stores: readonly TrustStore[] = [
  {
    system: 'Debian, Ubuntu, Alpine',
    isHere: () => process.platform === 'linux' && existsSync('/usr/local/share/ca-certificates'),
    commands: (file, name) => [
      ['install', '-m', '644', file, `/usr/local/share/ca-certificates/${name}.crt`],
      ['update-ca-certificates'],
    ],
  },
  {
    system: 'Fedora, Red Hat',
    isHere: () => process.platform === 'linux' && existsSync('/etc/pki/ca-trust/source/anchors'),
    commands: (file, name) => [
      ['install', '-m', '644', file, `/etc/pki/ca-trust/source/anchors/${name}.pem`],
      ['update-ca-trust'],
    ],
  },
  {
    system: 'macOS',
    isHere: () => process.platform === 'darwin',
    commands: (file) => [
      [
        'security',
        'add-trusted-cert',
        '-d',
        '-r',
        'trustRoot',
        '-k',
        '/Library/Keychains/System.keychain',
        file,
      ],
    ],
  },
  {
    system: 'Windows',
    isHere: () => process.platform === 'win32',
    commands: (file) => [['certutil', '-addstore', '-f', 'ROOT', file]],
  },
]

export const command: Command = defineCommand({
  name: 'trust',
  summary:
    'How clients come to trust the https of this installation; with `--install` this system does',
  arguments: [],
  options: {
    install: {
      type: 'boolean',
      summary: 'Add the authority to the store of this system; needs the right to',
    },
  },
  examples: ['trust', 'trust --install'],
  async run(context, { install }) {
    const file = findAuthority(context.home())
    const name = storeNameOf(file)
    if (install) {
      for (const line of commandsHere(file, name)) runLine(line)
      const trusted = { authorityFile: file, fingerprint: fingerprintOf(file) }
      if (context.terminal.output.isData) printData(context.terminal, trusted)
      else context.terminal.out(`This system trusts ${file} (SHA-256 ${trusted.fingerprint}).\n`)
      return 0
    }
    const systems = stores.map(({ system, commands }) => ({
      system,
      commands: commands(file, name).map((line) => line.map(quote).join(' ')),
    }))
    if (context.terminal.output.isData) {
      printData(context.terminal, {
        authorityFile: file,
        fingerprint: fingerprintOf(file),
        systems,
      })
      return 0
    }
    const lines = systems.flatMap(({ system, commands }) => [
      `  # ${system}`,
      // There, the shell itself is started as administrator.
      ...commands.map((line) => `  ${system === 'Windows' ? '' : 'sudo '}${line}`),
    ])
    context.terminal.out(`The authority is ${file}
SHA-256 ${fingerprintOf(file)}

It may speak for the names of this installation, and for private networks; for nothing else.
One shell, nothing installed:

  eval "$(npx armature env)"

The whole system (or \`npx armature trust --install\`, which does it on this one):

${lines.join('\n')}

Browsers with a store of their own (Firefox): import the file as an authority for web sites.
`)
    return 0
  },
})

function commandsHere(file: string, name: string): readonly CommandLine[] {
  const store = stores.find(({ isHere }) => isHere())
  if (store === undefined) {
    throw new LocalProblem('UnknownSystem', `How this system trusts ${file} is not known here.`)
  }
  return store.commands(file, name)
}

function runLine([program, ...words]: CommandLine): void {
  const { status, error, stderr } = spawnSync(program, words, { encoding: 'utf8' })
  if (status === 0) return
  const reason = error?.message ?? stderr.trim()
  const line = [program, ...words].map(quote).join(' ')
  throw new LocalProblem('TrustFailed', `\`${line}\` failed: ${reason}. It may need \`sudo\`.`)
}
