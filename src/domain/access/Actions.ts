/** What a user can do with a product, in the order of answers. */
export const actions = ["view", "order", "customize", "download", "publish"] as const
