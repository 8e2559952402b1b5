/**
 * The tiers of the tests, by the names of their files (decision 0324): `npm test` runs all but `*.wide.test.ts`,
 * `npm run test:wide` those alone, `npm run test:long` all of them with every case. CI runs the first two, one after the other.
 */

export const isWide = (path: string): boolean => path.endsWith('.wide.test.ts')
