/** Milliseconds since the process began. Only for pacing, such as how often to commit or pause. */

export function elapsedMilliseconds(): number {
  return performance.now()
}
