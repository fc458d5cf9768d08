import type { Routes } from "./Types.ts"

/** How each operation is requested. Written by `node scripts/routes.ts`; the types compare it with the definition. */
export const routes = {
  locations: {
    list: "GET /v1/locations pages",
    create: "POST /v1/locations body",
    get: "GET /v1/locations/:uuid",
    update: "PATCH /v1/locations/:uuid body",
    delete: "DELETE /v1/locations/:uuid",
    updateMedia: "PUT /v1/locations/:uuid/media body",
    updateTranslationLabels: "PUT /v1/locations/:uuid/translation-labels body",
    listUsers: "GET /v1/locations/:uuid/users pages",
    updateUsers: "PUT /v1/locations/:uuid/users body",
    listGroups: "GET /v1/locations/:uuid/groups pages",
    updateGroups: "PUT /v1/locations/:uuid/groups body"
  },
  users: {
    list: "GET /v1/users pages",
    create: "POST /v1/users body",
    get: "GET /v1/users/:uuid",
    update: "PATCH /v1/users/:uuid body",
    delete: "DELETE /v1/users/:uuid",
    recordLogin: "POST /v1/users/:uuid/logins body",
    listLocations: "GET /v1/users/:uuid/locations pages",
    updateLocations: "PUT /v1/users/:uuid/locations body",
    listGroups: "GET /v1/users/:uuid/groups pages",
    updateGroups: "PUT /v1/users/:uuid/groups body"
  },
  groups: {
    list: "GET /v1/groups pages",
    create: "POST /v1/groups body",
    get: "GET /v1/groups/:uuid",
    update: "PATCH /v1/groups/:uuid body",
    delete: "DELETE /v1/groups/:uuid",
    listUsers: "GET /v1/groups/:uuid/users pages",
    updateUsers: "PUT /v1/groups/:uuid/users body",
    listLocations: "GET /v1/groups/:uuid/locations pages",
    updateLocations: "PUT /v1/groups/:uuid/locations body"
  },
  assets: {
    list: "GET /v1/assets pages",
    create: "POST /v1/assets body",
    search: "GET /v1/assets/search pages",
    listMetaTags: "GET /v1/assets/meta-tags query",
    get: "GET /v1/assets/:uuid query",
    update: "PATCH /v1/assets/:uuid body",
    delete: "DELETE /v1/assets/:uuid query",
    getMetaTags: "GET /v1/assets/:uuid/meta-tags query",
    updateMetaTags: "PATCH /v1/assets/:uuid/meta-tags body"
  },
  uploads: {
    initialize: "POST /v1/uploads/init-multi-part body",
    complete: "PUT /v1/uploads/complete-multi-part body",
    get: "GET /v1/uploads/:uuid",
    renewParts: "POST /v1/uploads/:uuid/parts body",
    abort: "DELETE /v1/uploads/:uuid"
  },
  assetCategories: {
    list: "GET /v1/asset-categories pages",
    create: "POST /v1/asset-categories body",
    get: "GET /v1/asset-categories/:uuid",
    update: "PATCH /v1/asset-categories/:uuid body",
    delete: "DELETE /v1/asset-categories/:uuid"
  },
  metaTags: {
    list: "GET /v1/meta-tags pages",
    create: "POST /v1/meta-tags body",
    get: "GET /v1/meta-tags/:uuid",
    update: "PATCH /v1/meta-tags/:uuid body",
    delete: "DELETE /v1/meta-tags/:uuid"
  },
  products: {
    list: "GET /v1/products pages",
    create: "POST /v1/products body",
    get: "GET /v1/products/:uuid",
    update: "PATCH /v1/products/:uuid body",
    delete: "DELETE /v1/products/:uuid",
    getApiModule: "GET /v1/products/:uuid/modules/api",
    updateApiModule: "PUT /v1/products/:uuid/modules/api body",
    deleteApiModule: "DELETE /v1/products/:uuid/modules/api",
    recordApiCall: "POST /v1/products/:uuid/modules/api/calls body",
    getDeliveryModule: "GET /v1/products/:uuid/modules/delivery",
    updateDeliveryModule: "PUT /v1/products/:uuid/modules/delivery body",
    deleteDeliveryModule: "DELETE /v1/products/:uuid/modules/delivery",
    getDistributionModule: "GET /v1/products/:uuid/modules/distribution",
    updateDistributionModule: "PUT /v1/products/:uuid/modules/distribution body",
    deleteDistributionModule: "DELETE /v1/products/:uuid/modules/distribution",
    getLocationsModule: "GET /v1/products/:uuid/modules/locations",
    updateLocationsModule: "PUT /v1/products/:uuid/modules/locations body",
    deleteLocationsModule: "DELETE /v1/products/:uuid/modules/locations",
    getFilesModule: "GET /v1/products/:uuid/modules/files",
    updateFilesModule: "PUT /v1/products/:uuid/modules/files body",
    deleteFilesModule: "DELETE /v1/products/:uuid/modules/files",
    getStockModule: "GET /v1/products/:uuid/modules/stock",
    updateStockModule: "PUT /v1/products/:uuid/modules/stock body",
    deleteStockModule: "DELETE /v1/products/:uuid/modules/stock",
    getPriceModule: "GET /v1/products/:uuid/modules/price",
    updatePriceModule: "PUT /v1/products/:uuid/modules/price body",
    deletePriceModule: "DELETE /v1/products/:uuid/modules/price",
    getWorkflowModule: "GET /v1/products/:uuid/modules/workflow",
    updateWorkflowModule: "PUT /v1/products/:uuid/modules/workflow body",
    deleteWorkflowModule: "DELETE /v1/products/:uuid/modules/workflow",
    getSocialsModule: "GET /v1/products/:uuid/modules/socials",
    updateSocialsModule: "PUT /v1/products/:uuid/modules/socials body",
    deleteSocialsModule: "DELETE /v1/products/:uuid/modules/socials",
    getInternalCommentModule: "GET /v1/products/:uuid/modules/internal-comment",
    updateInternalCommentModule: "PUT /v1/products/:uuid/modules/internal-comment body",
    deleteInternalCommentModule: "DELETE /v1/products/:uuid/modules/internal-comment",
    getCampaignsModule: "GET /v1/products/:uuid/modules/campaigns",
    updateCampaignsModule: "PUT /v1/products/:uuid/modules/campaigns body",
    deleteCampaignsModule: "DELETE /v1/products/:uuid/modules/campaigns",
    getPermissionsModule: "GET /v1/products/:uuid/modules/permissions",
    updatePermissionsModule: "PUT /v1/products/:uuid/modules/permissions body",
    deletePermissionsModule: "DELETE /v1/products/:uuid/modules/permissions",
    getReservationsModule: "GET /v1/products/:uuid/modules/reservations",
    updateReservationsModule: "PUT /v1/products/:uuid/modules/reservations body",
    deleteReservationsModule: "DELETE /v1/products/:uuid/modules/reservations",
    getTemplateModule: "GET /v1/products/:uuid/modules/template",
    updateTemplateModule: "PUT /v1/products/:uuid/modules/template body",
    deleteTemplateModule: "DELETE /v1/products/:uuid/modules/template",
    getFormBuilderModule: "GET /v1/products/:uuid/modules/form-builder",
    updateFormBuilderModule: "PUT /v1/products/:uuid/modules/form-builder body",
    deleteFormBuilderModule: "DELETE /v1/products/:uuid/modules/form-builder",
    getVariantsModule: "GET /v1/products/:uuid/modules/variants",
    updateVariantsModule: "PUT /v1/products/:uuid/modules/variants body",
    deleteVariantsModule: "DELETE /v1/products/:uuid/modules/variants"
  },
  reservations: {
    create: "POST /v1/products/:uuid/reservations body",
    cancel: "POST /v1/products/:uuid/reservations/:reservationUuid/cancel"
  },
  posts: {
    list: "GET /v1/posts pages",
    create: "POST /v1/posts body",
    get: "GET /v1/posts/:uuid query",
    update: "PATCH /v1/posts/:uuid body",
    delete: "DELETE /v1/posts/:uuid"
  },
  events: {
    list: "GET /v1/events query"
  },
  apiKeys: {
    list: "GET /v1/api-keys pages",
    create: "POST /v1/api-keys body",
    get: "GET /v1/api-keys/:uuid",
    revoke: "DELETE /v1/api-keys/:uuid query",
    rotate: "POST /v1/api-keys/:uuid/rotate body",
    me: "GET /v1/me"
  }
} as const satisfies Routes
