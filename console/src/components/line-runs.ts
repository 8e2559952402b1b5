/** Splits the points of a line where nothing was measured. */

export type Point = readonly [at: number, value: number]

/** The points, the oldest first, in runs: between two points of a run less than `gapMin` milliseconds have passed. */
export function runsOf(points: readonly Point[], gapMin: number): readonly (readonly Point[])[] {
  const runs: Point[][] = []
  for (const point of points) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    if (run === undefined || last === undefined || point[0] - last[0] >= gapMin) runs.push([point])
    else run.push(point)
  }
  return runs
}
