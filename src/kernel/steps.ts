/** Work that yields where a server may do other work in between. */

/** Takes all steps at once, for work that is short or that nobody else waits for. */
export function allSteps<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
