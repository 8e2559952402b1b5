/**
 * Versions that published clients and templates send for types of this namespace, besides those with a shape here.
 */
export const publishedVersions: readonly string[] = [
  '2015-07-01',
  '2017-10-01-preview',
  '2018-01-01-preview',
  '2018-07-01',
  '2018-09-01-preview',
  '2020-03-01-preview',
  '2020-04-01-preview',
  '2020-08-01-preview',
  '2020-10-01-preview',
  '2021-04-01-preview',
  '2022-05-01-preview',
]
