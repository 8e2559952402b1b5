/** Whatever a body contains: values marked as secret are in the secrets, and never shown. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSeal } from '#plane/testing/provider-context.ts'
import { fc } from '../../../../tests/property.ts'
import { groupProperties } from '../resources/container-groups/versions/shapes.ts'
import {
  openSecret,
  placeOf,
  sealSecrets,
  splitSecrets,
  unescapeSegment,
} from './sealed-secrets.ts'

const secretText = fc.string({ minLength: 1, maxLength: 20 }).map((text) => `hush:${text}`)
const name = fc.string({ unit: 'binary', maxLength: 8 })

const bodies = fc.record({
  containers: fc.array(
    fc.record({
      name,
      properties: fc.record({
        environmentVariables: fc.uniqueArray(fc.record({ name, secureValue: secretText }), {
          selector: (one) => one.name,
          maxLength: 3,
        }),
        unknown: fc.jsonValue(),
      }),
    }),
    { maxLength: 2 },
  ),
  volumes: fc.array(fc.record({ name, secret: fc.dictionary(name, secretText, { maxKeys: 3 }) }), {
    maxLength: 2,
  }),
  extensions: fc.array(
    fc.record({ name, properties: fc.record({ protectedSettings: fc.jsonValue() }) }),
    { maxLength: 2 },
  ),
})

test('no secret is shown, and each opens again at its own place only', () => {
  fc.assert(
    fc.property(bodies, (body) => {
      const { shown, secrets } = splitSecrets(groupProperties, body)
      assert.ok(!JSON.stringify(shown).includes('hush:'))
      assert.ok(!JSON.stringify(shown).includes('unknown'))
      const sealed = sealSecrets(testSeal, 'owner', secrets, undefined)
      assert.deepEqual(sealSecrets(testSeal, 'owner', secrets, sealed), sealed)
      for (const [place, text] of secrets) {
        assert.equal(openSecret(testSeal, 'owner', sealed, place), text.toWellFormed())
        assert.equal(openSecret(testSeal, 'other', sealed, place), undefined)
      }
    }),
  )
})

test('places keep their parts apart', () => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (parts) => {
      assert.deepEqual(
        placeOf(...parts)
          .split('/')
          .map(unescapeSegment),
        parts,
      )
    }),
  )
})
