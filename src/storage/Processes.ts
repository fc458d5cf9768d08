/** Whether a process of this machine is running; signal 0 only checks. The pid 0 would mean the own process group. */
export const isRunning = (pid: number): boolean => {
  if (pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It may belong to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
