import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { FileNotFoundError } from "../../domain/assets/File.ts"
import {
  CompletedUpload,
  PartUrls,
  PartUrlsRequest,
  Upload,
  UploadComplete,
  UploadId,
  UploadInit,
  UploadSession
} from "../../domain/assets/Upload.ts"
import { requires } from "../Authorization.ts"
import { describe, group, operation } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import * as Records from "../Records.ts"
import { RejectedSafeWrites } from "../writes/SafeWrites.ts"
import { limits, ReadsPrimary } from "../Limits.ts"

const uuid = { uuid: UploadId }

/** Multipart uploads of files, straight to the storage. */
export class UploadsApi extends HttpApiGroup.make("uploads")
  .annotate(ReadsPrimary, true)
  .add(
    HttpApiEndpoint.post("initialize", "/init-multi-part", {
      payload: UploadInit,
      success: Envelope.CreatedRecord(UploadSession)
    }).pipe(
      operation(
        "create:uploads",
        "Initialize multipart upload",
        "Returns a URL for each part: PUT its bytes to the `url` and keep the `ETag` header of the response. With `sha256` the content is verified, and a key with `read:assets` gets as `duplicateOf` an asset that already has it."
      )
    ),
    HttpApiEndpoint.put("complete", "/complete-multi-part", {
      payload: UploadComplete,
      success: Envelope.One(CompletedUpload),
      error: FileNotFoundError
    }).pipe(
      requires("create:uploads"),
      // The storage copies large files when it joins their parts.
      limits({ answerMillis: 3_600_000 }),
      describe(
        "Complete multipart upload",
        "Joins the parts into a file, if all of them have arrived and have the declared size together. Idempotent."
      )
    ),
    HttpApiEndpoint.get("get", "/:uuid", {
      params: { uuid: UploadId },
      success: Envelope.One(Upload),
      error: FileNotFoundError
    }).pipe(
      operation(
        "create:uploads",
        "Get an upload",
        "The progress of an upload of this key: which parts have arrived, so that it can be resumed."
      )
    ),
    HttpApiEndpoint.post("renewParts", "/:uuid/parts", {
      params: uuid,
      payload: PartUrlsRequest,
      success: Envelope.One(PartUrls),
      error: FileNotFoundError
    }).pipe(operation("create:uploads", "Renew part URLs", "New URLs for the parts that are named.")),
    HttpApiEndpoint.delete("abort", "/:uuid", Records.remove(UploadId, FileNotFoundError)).pipe(
      operation("create:uploads", "Abort an upload", "Ends an upload that is not completed and removes its parts.")
    )
  )
  .prefix("/v1/uploads")
  .annotateEndpoints(RejectedSafeWrites, ["Idempotency-Key", "validate-only"])
  .annotateMerge(
    group("Uploads", "Multipart uploads of files, straight to the storage. A completed upload can become an asset.")
  ) {}
