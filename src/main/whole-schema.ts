/**
 * The tables of a new SQLite store, as one script. The build computes it (`tools/whole-schema.ts`); a checkout runs the
 * migrations one after the other, each of which reads the tables of all before it again.
 */

export const wholeSchema: string | undefined = undefined
