/**
 * Runs a generator of typed clients on our `$metadata`. It must accept it, its output must compile, and a program
 * typed by it must work against a started application.
 */

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
import { startInstallation } from '../e2e/installation.ts'
import { someOf } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { collectWitnesses, versionOf } from './published.ts'

const modules = join(import.meta.dirname, 'node_modules')
const generator = join(modules, '@odata2ts/odata2ts/lib/run-cli.js')
const howToGet = 'the client generator is not installed: run `npm --prefix tests/conformance ci`'
const run = promisify(execFile)

// A program is written against the newest version below, so its client is generated and compiled there.
for (const version of someOf(versions, 2, 1)) {
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
    // Ours, which compiles in a tenth of the time.
    const compiler = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
    await run(process.execPath, [compiler, '-p', '.'], options).catch(
      // The compiler writes its findings to its output. The error alone would hide them.
      (error: { stdout?: string }) => assert.fail(error.stdout ?? String(error)),
    )
  })
}

/** A user's program, checked against the generated types and run: an invoice from nothing to posted. */
const program = `
import { FetchClient } from '@odata2ts/http-client-fetch'
import { businessService } from './client/businessService'

async function main(url: string, token: string) {
  const service = new businessService(new FetchClient({ headers: { Authorization: 'Bearer ' + token } }), url)
  const companies = await service.companies().query((b, q) => b.filter(q.name.eq('Demo company')).select('id', 'name'))
  const company = service.companies(companies.data.value[0]!.id)
  const items = await company.items().query((b, q) => b.filter(q.number.eq('1996-S')).top(1))
  const itemId = items.data.value[0]!.id
  const invoice = (await company.salesInvoices().create({ customerNumber: '10000' })).data
  const line = (await company.salesInvoices(invoice.id).salesInvoiceLines().create({ itemId, quantity: 3 })).data
  const etag = (line as unknown as Record<string, string>)['@odata.etag']!
  await company.salesInvoiceLines(line.id).patch({ quantity: 5 }, { headers: { 'If-Match': etag } })
  const stale = await company
    .salesInvoiceLines(line.id)
    .patch({ quantity: 9 }, { headers: { 'If-Match': etag } })
    .then(() => 200, (error) => error.status)
  const read = (await company.salesInvoices(invoice.id).query((b) => b.expand('salesInvoiceLines'))).data
  const lines = read.salesInvoiceLines ?? []
  POST
  const after = (await company.salesInvoices(invoice.id).query()).data
  console.log(JSON.stringify({
    stale,
    quantities: lines.map((one) => one.quantity),
    total: read.totalAmountIncludingTax,
    lineTotal: lines[0]?.amountIncludingTax,
    status: after.status,
  }))
}
main(process.argv[2]!, process.argv[3]!)
`

const posts =
  'a program typed by the client makes an invoice, changes a line, is refused a stale tag, and posts'

test(posts, async (t) => {
  if (!requireOrSkip(t, existsSync(generator), howToGet)) return
  const folder = await mkdtemp(join(tmpdir(), 'armature-odata-client-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await using installation = await startInstallation()
  assert.equal((await installation.cli(['demo', 'business'])).code, 0)
  const address = `${installation.url}/api/v2.0`
  // From the server, as a user gets it.
  const metadata = await installation.request('GET', '/api/v2.0/$metadata')
  assert.equal(metadata.status, 200)
  await symlink(modules, join(folder, 'node_modules'))
  await writeFile(join(folder, 'metadata.xml'), metadata.text)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'commonjs' }))
  const compilerOptions = {
    ...{ target: 'es2022', module: 'commonjs', moduleResolution: 'node10', strict: true },
    ...{ skipLibCheck: true, outDir: 'out', lib: ['es2022', 'dom'], types: [] },
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['client/**/*.ts', 'use.ts', 'node.d.ts'] }),
  )
  await writeFile(join(folder, 'node.d.ts'), 'declare const process: { argv: string[] }\n')
  const options = { cwd: folder, maxBuffer: 1 << 24 }
  await run(
    process.execPath,
    [
      ...[generator, '--source', 'metadata.xml', '--output', 'client', '--mode', 'all'],
      ...['--emit-mode', 'ts', '--service-name', 'business'],
    ],
    options,
  )
  const post = 'await company.salesInvoices(invoice.id).post()'
  await writeFile(join(folder, 'use.ts'), program.replace('POST', post))
  const told = (error: { stdout?: string; stderr?: string }) =>
    assert.fail(`${error.stdout ?? ''}${error.stderr ?? ''}` || String(error))
  await run(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', '.'], options).catch(told)
  const words = [join(folder, 'out/use.js'), address, installation.ownerToken]
  const ran = await run(process.execPath, words, options).catch(told)
  const seen = JSON.parse(ran.stdout)
  assert.equal(seen.stale, 412)
  assert.deepEqual(seen.quantities, [5])
  assert.equal(seen.total, seen.lineTotal)
  assert.ok(seen.total > 0)
  assert.notEqual(seen.status, 'Draft')
  const witnesses = collectWitnesses(import.meta.filename)
  const client = '@odata2ts/odata2ts'
  witnesses.add({ operation: 'sales lines', client, version: versionOf(client), test: posts })
  witnesses.compare()
})
