/**
 * Prints the software bill of materials of the published package, in CycloneDX's JSON. npm makes it; its `--omit dev`
 * also omits packages that a development dependency needs too, so those of development are taken out here.
 */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

interface Component {
  readonly 'bom-ref': string
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

interface BillOfMaterials {
  components: readonly Component[]
  dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const printed = execFileSync(
  'npm',
  ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--workspaces=false'],
  {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
const bill = JSON.parse(printed) as BillOfMaterials
const dropped = new Set(
  bill.components.filter(isForDevelopment).map((component) => component['bom-ref']),
)
bill.components = bill.components.filter((component) => !dropped.has(component['bom-ref']))
bill.dependencies = bill.dependencies
  .filter(({ ref }) => !dropped.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => !dropped.has(one)) }))
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`)

function isForDevelopment({ properties = [] }: Component): boolean {
  return properties.some(
    ({ name, value }) => name === 'cdx:npm:package:development' && value === 'true',
  )
}
