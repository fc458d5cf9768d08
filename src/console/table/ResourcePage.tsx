import { Link } from "wouter"
import { useAddress } from "../data/Addresses.ts"
import definition from "virtual:definition"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import { ColumnChoice } from "./ColumnChoice.tsx"
import { FilterBar } from "./FilterBar.tsx"
import { RecordTable } from "./RecordTable.tsx"
import { useView } from "./Records.ts"
import { SearchBox } from "./SearchBox.tsx"
import { later } from "../shell/Later.tsx"
import { Heading } from "../shell/Heading.tsx"

const LocationMap = later(() => import("../map/LocationMap.tsx"))
const QualityList = later(() => import("./QualityList.tsx"))
const PostSchedule = later(() => import("../posts/PostSchedule.tsx"))
const AssetGrid = later(() => import("../assets/AssetGrid.tsx"))
const Uploads = later(() => import("../assets/Uploads.tsx"))

/** The views of resources that have more than a table. */
const views: Readonly<Record<string, ReadonlyArray<string>>> = {
  locations: ["list", "map", "quality"],
  assets: ["grid", "list"],
  posts: ["list", "schedule"]
}

const ViewChoice = ({ all, current }: { readonly all: ReadonlyArray<string>; readonly current: string }) => {
  const words = useWords()
  const address = useAddress()
  const titles: Readonly<Record<string, string>> = {
    list: words.list,
    map: words.map,
    grid: words.grid,
    quality: words.quality,
    schedule: words.schedule
  }
  return (
    <div className="views" role="group" aria-label={words.view}>
      {all.map((view) => (
        <button
          key={view}
          type="button"
          aria-pressed={view === current}
          onClick={() => address.set({ view: view === all[0] ? undefined : view })}
        >
          {titles[view]}
        </button>
      ))}
    </div>
  )
}

/** The records of a resource: as a table, and as what else shows them well. */
export const ResourcePage = ({ resource }: { readonly resource: Resource }) => {
  const words = useWords()
  const names = useNames()
  const address = useAddress()
  const { can } = useSession()
  const all = views[resource.name] ?? ["list"]
  const wanted = address.get("view") ?? all[0]!
  const current = all.includes(wanted) ? wanted : all[0]!
  const { filter, openAt, search } = useView(resource)
  const shown = JSON.stringify([filter, openAt, search])
  return (
    <>
      <div className="heading">
        <Heading text={names.resource(resource.name)} />
        {all.length > 1 ? <ViewChoice all={all} current={current} /> : null}
        {can(resource.actions.create) && resource.name !== "assets" ? (
          <Link href={`/${resource.name}/new`} className="button primary">
            {words.create}
          </Link>
        ) : null}
      </div>
      <div className="tools">
        {can(resource.actions.search) ? <SearchBox /> : null}
        {current === "quality" || current === "schedule" ? null : <FilterBar resource={resource} />}
        {resource.hasOpeningHours && current !== "quality" ? (
          <label className="check">
            <input
              type="checkbox"
              checked={address.get("openAt") === "now"}
              onChange={(event) => address.set({ openAt: event.target.checked ? "now" : undefined })}
            />
            {words.openNow}
          </label>
        ) : null}
        {current === "list" ? <ColumnChoice resource={resource} /> : null}
      </div>
      {/* Outside of the lists, which are shown anew for each search, so that uploads go on and can be resumed. */}
      {resource.name === "assets" && can(resource.actions.create) && can(definition.actions["uploads.initialize"]) ? (
        <Uploads />
      ) : null}
      {current === "map" ? <LocationMap /> : null}
      {current === "quality" ? <QualityList /> : null}
      {current === "schedule" ? <PostSchedule /> : null}
      {current === "grid" ? <AssetGrid key={shown} resource={resource} /> : null}
      {/* What is chosen belongs to the records that are shown: rows that a filter hides are not deleted. */}
      {current === "list" ? <RecordTable key={shown} resource={resource} /> : null}
    </>
  )
}
