import { number } from "./people.ts"
import type { Step } from "./step.ts"

/** Six products in ten have no variants, one in ten has three. The preview of a product is an asset. */
export const seedProducts: Step = (sql, { assets, products }) =>
  sql.begin(async (sql) => {
    const columns = `(uuid, type, identifier, name, description, translations, status, categories, tags, visible_from, position,
      parent_uuid, option_values, created_at, edited_at)`
    const made = (identifier: string) => `${identifier}, 'Flyer ' || left(md5('p' || i), 8) || ' ' || i % 97,
      case when i % 2 = 0 then 'Printed on both sides, edition ' || i % 31 end,
      jsonb_build_array(jsonb_build_object('locale', 'nl', 'name', 'Folder ' || i)),
      (array['draft', 'published', 'published', 'archived'])[1 + i % 4], array['print', 'category ' || i % 50],
      array['tag ' || i % 5000], case when i % 3 = 0 then now() + age end, i % 1000`
    const rows =
      "generate_series(1, $1::int) i cross join lateral (select (i - $1) * interval '10 seconds' as age) ages"
    await sql.unsafe(
      `insert into products ${columns} select uuidv7(age), case when i % 7 = 0 then 'variantParent' else 'default' end,
        ${made("'PRD-' || i")}, null, null, now() + age, now() + age from ${rows}`,
      [Math.round(products * 0.7)]
    )
    await sql`alter table products disable trigger variants_inserted`
    await sql.unsafe(
      `insert into products ${columns} select uuidv7(age), 'variant', ${made("'VAR-' || i")}, p.uuid,
        jsonb_build_array(jsonb_build_object('option', 'size', 'value', 'A' || i % 3)), now() + age, now() + age
      from ${rows} join (select uuid, row_number() over (order by uuid) as number from products where type = 'variantParent') p
        on p.number = 1 + (i - 1) / 3`,
      [Math.round(products * 0.3)]
    )
    await sql`alter table products enable trigger variants_inserted`
    for (const table of ["assets", "products"]) await number(sql, table)
    await sql`insert into product_modules (product_uuid, module, settings)
      select p.uuid, 'files', jsonb_build_object('files', jsonb_build_array(jsonb_build_object('uuid', p.uuid, 'assetUuid', a.uuid,
        'role', 'preview', 'position', 0)), 'downloadAllowed', true, 'watermark', false)
      from numbered_products p join numbered_assets a on a.number = 1 + (p.number * 7919) % ${assets}::int where p.number % 2 = 0`
    await sql`insert into product_assets (product_uuid, module, asset_uuid)
      select product_uuid, module, (settings->'files'->0->>'assetUuid')::uuid from product_modules where module = 'files'`
    await sql`insert into product_modules (product_uuid, module, settings) select uuid, 'api', '{}' from numbered_products
      where number % 3 = 0`
    await sql`insert into product_modules (product_uuid, module, settings) select parent_uuid, 'variants',
        jsonb_build_object('options', '[]'::jsonb, 'defaultVariantUuid', min(uuid::text)) from products where type = 'variant'
      group by parent_uuid`
  })

/** Posts in two languages, most of them published. */
export const seedPosts: Step = (sql, { assets, groups, locations, posts, users }) =>
  sql.begin(async (sql) => {
    for (const table of ["assets", "groups", "locations", "users"]) await number(sql, table)
    // The trigger rejects inserts in other states than draft and scheduled.
    await sql`alter table posts disable trigger status_begins`
    await sql`insert into posts (uuid, slug, type, status, translations, author, cover_asset_uuid, media_asset_uuids, categories,
        tags, audience, call_to_action, pinned, publish_at, published_at, created_at, edited_at)
      select uuidv7(age), 'post-' || i, (array['news', 'announcement', 'social', 'page'])[1 + i % 4], status,
        jsonb_build_array(
          jsonb_build_object('locale', 'en', 'title', 'Campaign ' || left(md5('t' || i), 8), 'excerpt', 'Week ' || i % 52,
            'body', '<p>' || repeat('What every branch should know about it. ', 1 + i % 20) || md5(i::text) || '</p>'),
          jsonb_build_object('locale', 'nl', 'title', 'Campagne ' || left(md5('t' || i), 8))),
        jsonb_build_object('uuid', u.uuid), case when i % 2 = 0 then a.uuid end,
        case when i % 3 = 0 then array[a.uuid::text] else '{}' end, array['category ' || i % 50], array['tag ' || i % 5000],
        jsonb_build_object('authorizationType', 'groups',
          'groups', jsonb_build_array(jsonb_build_object('uuid', g.uuid)),
          'locations', case when i % 5 = 0 then jsonb_build_array(jsonb_build_object('uuid', l.uuid)) else '[]' end),
        case when i % 4 = 0 then jsonb_build_object('type', 'order', 'url', 'https://example.com/' || i) end, i % 100 = 0,
        case when status = 'scheduled' then timestamptz '2090-01-01' + i * interval '1 minute' when status <> 'draft' then now() + age end,
        case when status in ('published', 'archived') then now() + age end, now() + age, now() + age
      from generate_series(1, ${posts}::int) i
      cross join lateral (select (i - ${posts}::int) * interval '10 seconds' as age,
        (array['draft', 'scheduled', 'published', 'published', 'published', 'archived'])[1 + i % 6] as status) made
      join numbered_users u on u.number = 1 + (i * 31) % ${users}::int
      join numbered_assets a on a.number = 1 + (i * 131) % ${assets}::int
      join numbered_groups g on g.number = 1 + (i * 17) % ${groups}::int
      join numbered_locations l on l.number = 1 + (i * 37) % ${locations}::int`
    await sql`alter table posts enable trigger status_begins`
  })
