/** Gives up the rights of root for those of the user of the first argument, if there is one. */
export const assume = ([, , user]: ReadonlyArray<string>): void => {
  if (user === undefined) return
  process.setgroups?.([])
  process.setgid?.(Number(user))
  process.setuid?.(Number(user))
}
