/** The table of zones, as a template and a command see it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zonesOf } from './zones.ts'

test('zones are a matter of the type and the location, in any case of the one and any writing of the other', () => {
  assert.deepEqual(zonesOf('Vendor.Compute', 'virtualMachines', 'West Europe'), ['1', '2', '3'])
  assert.deepEqual(zonesOf('vendor.compute', 'VIRTUALMACHINES', 'westeurope'), ['1', '2', '3'])
  assert.deepEqual(zonesOf('Vendor.Compute', 'virtualMachines', 'westus'), [])
  assert.deepEqual(zonesOf('Vendor.Compute', 'virtualMachines', 'local'), [])
  assert.deepEqual(zonesOf('Vendor.Compute', 'availabilitySets', 'westeurope'), [])
})
