package io.millrace.proxy.admin.copy;

import io.millrace.proxy.admin.copy.CopyTarget.NewCopy;
import io.millrace.proxy.admin.copy.CopyTarget.Progress;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * {@code POST /v1/cache/import}: stores one copied response, either in one request or in an upload of several requests.
 * For operators only. Thread-safe.
 */
public final class ImportResource implements AdminResource {
    /** Path of a whole response, or of the beginning of an upload. */
    public static final String BEGIN_PATH = "/v1/cache/import";

    /** Path of a part of the content. */
    public static final String CONTENT_PATH = "/v1/cache/import/content";

    /** Path of the end of an upload. */
    public static final String END_PATH = "/v1/cache/import/end";

    /** Path that ends an upload without storing. */
    public static final String ABORT_PATH = "/v1/cache/import/abort";

    private final String path;
    private final Step step;

    /** One request of an upload. */
    @FunctionalInterface
    private interface Step {
        CompletionStage<Progress> run(AdminRequest request) throws AdminException;
    }

    private ImportResource(String path, Step step) {
        this.path = path;
        this.step = step;
    }

    /** Creates the resource that begins uploads. */
    public static ImportResource begin(CopyTarget target) {
        return new ImportResource(BEGIN_PATH, request -> begin(target, request));
    }

    /** Creates the resource that adds content to an upload. */
    public static ImportResource content(CopyTarget target) {
        return new ImportResource(
                CONTENT_PATH,
                request -> target.add(
                        request.parameter("upload"),
                        Uploads.number(request.parameter("position"), "position"),
                        request.body()));
    }

    /** Creates the resource that ends uploads. */
    public static ImportResource end(CopyTarget target) {
        return new ImportResource(END_PATH, request -> {
            byte[] sha256 = Uploads.bytes(Uploads.members(request.body()), "sha256");
            if (sha256 == null) {
                throw new AdminException(400, "bad-request", "the member 'sha256' is required");
            }
            return target.end(request.parameter("upload"), sha256);
        });
    }

    /** Creates the resource that aborts uploads. */
    public static ImportResource abort(CopyTarget target) {
        return new ImportResource(ABORT_PATH, request -> target.abort(request.parameter("upload")));
    }

    private static CompletionStage<Progress> begin(CopyTarget target, AdminRequest request) throws AdminException {
        Map<String, Object> members = Uploads.members(request.body());
        NewCopy copy = Uploads.copy(members);
        byte[] content = Uploads.bytes(members, "content");
        byte[] sha256 = Uploads.bytes(members, "sha256");
        CompletionStage<Progress> begun = target.begin(copy, request.caller());
        if (content == null || sha256 == null) {
            return begun;
        }
        return begun.thenCompose(progress -> {
                    String upload = progress.upload();
                    return upload == null || content.length == 0
                            ? CompletableFuture.completedFuture(progress)
                            : target.add(upload, 0, content);
                })
                .thenCompose(progress -> {
                    String upload = progress.upload();
                    return upload == null ? CompletableFuture.completedFuture(progress) : target.end(upload, sha256);
                });
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return path;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        responder.replyWhen(
                step.run(request),
                progress -> AdminReply.json(json -> {
                    json.writeStringProperty("upload", progress.upload());
                    json.writeBooleanProperty("stored", progress.stored());
                    json.writeStringProperty("reason", progress.reason());
                }));
    }
}
