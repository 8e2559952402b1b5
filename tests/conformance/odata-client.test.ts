/** Our `$metadata` fed to a generator of typed clients: it must generate, and what it made must compile. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { versions } from '../../src/business/entity.ts'
import { businessModel } from '../../src/business/model.ts'
import { metadataOf } from '../../src/business/odata/metadata.ts'
import { requireOrSkip } from '../require.ts'

const modules = join(import.meta.dirname, 'node_modules')
const generator = join(modules, '@odata2ts/odata2ts/lib/run-cli.js')
const howToGet = 'the client generator is not installed: run `npm --prefix tests/conformance ci`'
const run = promisify(execFile)

for (const version of versions) {
  test(`a typed client is generated from the metadata of ${version}`, async (t) => {
    if (!requireOrSkip(t, existsSync(generator), howToGet)) return
    const folder = await mkdtemp(join(tmpdir(), 'armature-odata-client-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    await symlink(modules, join(folder, 'node_modules'))
    await writeFile(join(folder, 'metadata.xml'), metadataOf(businessModel, 'Vendor', version))
    const compilerOptions = {
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      strict: true,
      skipLibCheck: true,
      noEmit: true,
    }
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['client/**/*.ts'] }),
    )
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    const options = { cwd: folder, maxBuffer: 1 << 24 }
    const source = ['--source', 'metadata.xml', '--output', 'client', '--mode', 'all']
    const shape = ['--emit-mode', 'ts', '--service-name', 'business']
    await run(process.execPath, [generator, ...source, ...shape], options)
    const model = await readFile(join(folder, 'client/businessModel.ts'), 'utf8')
    assert.match(model, /export interface salesInvoiceLine\b/)
    assert.match(model, /unitPrice: number \| null/)
    await run(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', '.'], options).catch(
      // The compiler says on its output what is wrong, and the error alone would hide it.
      (error: { stdout?: string }) => assert.fail(error.stdout ?? String(error)),
    )
  })
}
