/** The processor time of this process so far, in milliseconds: what code costs, however busy the machine is. */
export const cpuMillis = (): number => {
  const { system, user } = process.cpuUsage()
  return (user + system) / 1000
}
