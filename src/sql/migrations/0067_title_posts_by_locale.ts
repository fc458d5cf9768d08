import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // As before, but a post has its title in the default locale, and not in the first one of its language. The service corrects the titles
  // of existing posts when it starts.
  yield* sql.unsafe(`
    create or replace function waypost_post_title() returns trigger language plpgsql as $$
    begin
      select waypost_translation(new.translations, coalesce(locale, language), language)->>'title' into new.title from post_language;
      return new;
    end $$`)
})
