import { fire } from "../../test/support/proofs/Load.ts"
import type { Tool } from "./tool.ts"

const connections = 500
const requests = 10_000

/** Many concurrent clients. */
export const autocannon: Tool = {
  name: "autocannon",
  needs: undefined,
  readsOnly: true,
  run: async ({ key, url, uuids }) => {
    const paths = [
      `/v1/locations/${uuids.location}`,
      "/v1/locations?limit=25",
      "/v1/products?filter=name:contains:fly&sortBy=name",
      "/v1/assets/search?search=zomer",
      `/v1/users/${uuids.user}/groups`,
      "/v1/me"
    ]
    const headers = { authorization: key }
    const sent = { url, connections, headers, until: { requests }, requests: () => paths.map((path) => ({ path })) }
    const { broken, max, p50, p99, statuses } = await fire(sent)
    const good = statuses.get(200) ?? 0
    return {
      at: `${paths.length} kinds of reads, ${connections} connections`,
      figures: `${good} × 200, p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms, max ${Math.round(max)} ms`,
      findings: [
        ...[...statuses]
          .filter(([status]) => status !== 200)
          .map(([status, count]) => `${count} responses with ${status}`),
        ...(good === requests ? [] : [`${good} of ${requests} requests returned 200`]),
        ...(broken === 0 ? [] : [`${broken} broken connections`])
      ]
    }
  }
}
