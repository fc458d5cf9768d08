/** Paths that scanners commonly try. */
const words = (text: string) => text.trim().split(/\s+/)

const roots = words(`
  admin administrator api app apps application archive assets auth backup backups bin build cache cgi-bin ci client cms config
  configuration  content control core cpanel cron dashboard data database db debug demo dev developer diagnostics dist
  doc document documents download downloads dump editor elmah email env environment error errors events export exports feed file
  filemanager flags ftp git graphiql graphql grpc health healthcheck heapdump help hidden home hooks host hosts httpd image images
  img import include includes index info install installer internal invoke jenkins jobs js json jsonrpc keys lib library live log
  logger login logout logs mail manage management manager manifest media memory meta metadata metric migrations mobile monitor
  monitoring mysql netdata node node_modules oauth oauth2 old openapi ops options package panel password pgadmin phpinfo phpmyadmin
  ping playground plugins portal post postgres pprof preview private probe process profile profiler profiling prometheus proxy
  public query queue queues readme redirect redoc register remote report reports reset rest restart root rpc run s3 sandbox schema
  script scripts sdk search secret secrets secure security seed server server-info server-status service services session sessions
  settings setup shell shutdown signin signup site soap sql src staging start stat state static statistics stats status stop storage
  store stream support swagger swagger-ui sync sys system task tasks temp template terminal test testing tests tmp token tokens tool
  tools trace tracing translate tus update upgrade upload uploads url user utils v0 v1 v2 v3 vars vault vendor version view warmup
  web webadmin webdav webhook webhooks websocket well-known wiki worker workers wp-admin wp-json wp-login.php ws wsdl xmlrpc.php`)

const files = words(`
  .env .env.local .env.production .git .git/config .git/HEAD .gitignore .npmrc .htaccess .htpasswd .DS_Store .ssh/id_rsa .aws/credentials
  .well-known/security.txt .well-known/openid-configuration .vscode/settings.json .dockerenv .data Dockerfile docker-compose.yml
  package.json package-lock.json tsconfig.json src/main.ts src/settings/Config.ts node_modules/effect/package.json openapi.json openapi.yaml
  swagger.json swagger.yaml api-docs v1/api-docs robots.txt favicon.ico sitemap.xml crossdomain.xml clientaccesspolicy.xml web.config
  backup.sql dump.sql db.sqlite id_rsa server.key etc/passwd proc/self/environ actuator actuator/env actuator/health actuator/heapdump
  debug/pprof debug/vars debug/requests metrics/json metrics/prometheus metrics/all health/live health/ready livez startupz statusz
  docs/index.html docs/swagger docs/json docs/openapi.json docs/scalar.js healthz/live readyz/live readyz/db`)

const below = words(`
  v1 v1/admin v1/debug v1/metrics v1/health v1/healthz v1/login v1/token v1/session v1/keys v1/api-key v1/apikeys v1/me/keys v1/files
  v1/audit v1/jobs v1/permissions v1/roles v1/settings v1/config v1/search v1/sql v1/query v1/batch v1/bulk
  v1/export v1/import v1/backup v1/restore v1/internal v1/graphql v1/docs v1/swagger v1/swagger.json v1/openapi.yaml v1/openapi
  v1/user v1/location v1/group v1/product v1/post v1/asset v1/upload v1/uploads v1/assets/search/all v1/users/me/keys/x
  v1/tus v1/storage v1/addresses v2/users v2/locations v2/openapi.json v0/users api/v1/users api/users v1beta/users`)

/** Alternative spellings of existing paths, which a proxy may interpret differently. */
const variants = words(`
  //v1/locations /v1//locations /V1/locations /v1/Locations /v1/LOCATIONS /v1/./locations
  /v1/../v1/locations /./v1/locations /v1/locations;a=b /v1;/locations
  /v1%2flocations /v1%2Flocations /v1%5clocations /v1\\locations /v1/locations%2f /v1/locations%00 /v1/locations%0a /v1/locations%20
  /v1/locations.json /v1/locations.xml /v1/locations~ /v1/locations.bak /v1/locations%3f /v1/locations%23 /v1/loc%61tions%2f
  /Healthz /HEALTHZ /healthz%2f /Readyz /Metrics /metrics%2f /metrics%00 /metrics; /Docs /docs%2f
  /v1/OpenAPI.json /v1/openapi.json%00 /%2e%2e/etc/passwd /..%2fetc%2fpasswd /%2e%2e%2f%2e%2e%2fetc%2fpasswd
  /..%5c..%5cwindows /%c0%ae%c0%ae/etc/passwd /%252e%252e%252fetc%252fpasswd /....//....//etc/passwd /files/..%2f..%2fsecrets/x
  /files /files/ /files/x /uploads/ /uploads/x /%00 /%0d%0aSet-Cookie:a=b /%u002e /%zz /% /* /*/x /{uuid} /:uuid /v1/:x /v1/*`)

/** All unknown paths, without duplicates. */
export const unknownPaths: ReadonlyArray<string> = [
  ...new Set([...[...roots, ...files, ...below].map((word) => `/${word}`), ...variants])
]

/** Paths with another word in place of a uuid. */
export const noUuids: ReadonlyArray<string> = words(`
  /v1/uploads/init /v1/products/modules /v1/locations// /v1/locations/. /v1/locations/.. /v1/locations/../users /v1/users/me
  /v1/users/admin /v1/groups/all /v1/api-keys/me /v1/assets/search2 /v1/posts/latest /v1/products/%2e%2e /v1/users/%2e%2e%2fgroups`)
