/** Where the log of the primary was at a time, in milliseconds. */
interface Sample {
  readonly at: number
  readonly position: bigint
}

/** The positions of the primary over time, from which the lag of a replica follows, whether or not it is connected. */
export const make = (keptMillis: number) => {
  const samples: Array<Sample> = []
  let system: string | undefined
  return {
    system: () => system,
    add: (sample: Sample, of: string) => {
      system = of
      while (samples.length > 1 && samples[1]!.at < sample.at - keptMillis) samples.shift()
      // After a failover the log goes on from what was replicated.
      while (samples.length > 0 && samples.at(-1)!.position > sample.position) samples.pop()
      samples.push(sample)
    },
    /** Whether the lag of a position is known. The primary was beyond any other position before the first sample. */
    isKnown: (position: bigint) => samples.length > 0 && samples[0]!.position <= position,
    /**
     * For how long the primary had been beyond a position at the last sample, in milliseconds; at least that if it is not known. A
     * replica cannot catch up while the primary is down, so the lag does not grow then.
     */
    lagOf: (position: bigint) => {
      const beyond = samples.find((sample) => sample.position > position)
      return beyond === undefined ? 0 : samples.at(-1)!.at - beyond.at
    }
  }
}
