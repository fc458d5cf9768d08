import { useParts } from "../data/Lists.ts"
import { Failure } from "../shell/Failure.tsx"
import { Heading } from "../shell/Heading.tsx"
import { Listed } from "../shell/Listed.tsx"
import { useWords } from "../words/Words.tsx"
import { EventList } from "./EventList.tsx"
import { useLive } from "./Live.ts"

const log = { action: { group: "events", name: "list" } }

/** What was changed, the latest first, and what is changed while the page is open. */
const EventsPage = () => {
  const words = useWords()
  const list = useParts(log, { order: "desc" })
  const { error, isLive, setLive } = useLive(log, list)
  return (
    <>
      <Heading text={words.activity} />
      <label className="check">
        <input type="checkbox" checked={isLive} onChange={(event) => setLive(event.target.checked)} />
        {words.live}
      </label>
      {error === undefined ? null : <Failure error={error} retry={() => setLive(true)} />}
      <Listed list={list} empty={words.noHistory}>
        {(events) => <EventList events={events} />}
      </Listed>
    </>
  )
}

export default EventsPage
