package io.millrace.proxy.admin.data.copy;

import io.millrace.proxy.admin.copy.CopyTarget;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.exchange.ExchangeLoop;
import io.millrace.proxy.exchange.copy.CopiedResponse;
import io.millrace.proxy.exchange.copy.ResponseImport;
import io.millrace.proxy.exchange.decide.Variants;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.HttpDates;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import io.millrace.store.ObjectWriter;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Stores copied responses. Uploads are handled on the first event loop, and are aborted after an idle time. Lookups
 * find no part of an upload before its end. Thread-safe.
 */
public final class ObjectImports implements CopyTarget {
    /** Number of bytes of {@code HTTP/1.1 200}. */
    private static final int STATUS_END = 12;

    private static final int STATUS_START = 9;

    /** 2^31, the largest age in a field (RFC 9111 section 1.2.2). */
    private static final long AGE_SECONDS_MAX = 1L << 31;

    private final ProxyView proxy;
    private final CopyAudit audit = new CopyAudit("import", System::nanoTime);
    private final PurgeId ids;
    /** Uploads in progress; confined to the event loop. */
    private final Map<String, Upload> uploads = new HashMap<>();

    /** Number of uploads whose first reply has not been sent yet; confined to the event loop. */
    private int openingUploads;

    private @Nullable Variants variants;

    /** An upload. Confined to the event loop. */
    private static final class Upload {
        private final ResponseImport.Opened opened;
        private final ObjectWriter<StoredHead> writer;
        private final MessageDigest digest;
        private final long length;
        private long position;
        private @Nullable Future<?> expiry;

        Upload(ResponseImport.Opened opened, MessageDigest digest, long length) {
            this.opened = opened;
            this.writer = opened.writer();
            this.digest = digest;
            this.length = length;
        }
    }

    public ObjectImports(ProxyView proxy) {
        this.proxy = proxy;
        this.ids = new PurgeId('i', () -> proxy.shared().clock().millis());
    }

    private ServingLoop servingLoop() {
        return proxy.loops().get(0);
    }

    @Override
    public CompletionStage<Progress> begin(NewCopy copy, AdminCaller caller) {
        CompletableFuture<Progress> reply = new CompletableFuture<>();
        CopiedResponse response;
        try {
            response = copied(copy);
        } catch (AdminException e) {
            reply.completeExceptionally(e);
            return reply;
        }
        if (response == null) {
            servingLoop().loop().execute(() -> refuse("bad-head", reply));
            return reply;
        }
        audit.add(caller, copy.url());
        servingLoop().loop().execute(() -> begin(response, reply));
        return reply;
    }

    // Any failure is answered, and the event loop goes on.
    @SuppressWarnings("IllegalCatch")
    private static void guarded(CompletableFuture<Progress> reply, Runnable step, Runnable onFailure) {
        try {
            step.run();
        } catch (RuntimeException e) {
            onFailure.run();
            reply.completeExceptionally(e);
        }
    }

    private void begin(CopiedResponse response, CompletableFuture<Progress> reply) {
        if (uploads.size() + openingUploads >= UPLOADS_MAX) {
            reply.completeExceptionally(new AdminException(
                    429,
                    "busy",
                    UPLOADS_MAX + " uploads are in progress, which is the limit; try again when one has ended"));
            return;
        }
        openingUploads++;
        var unused = reply.whenComplete((progress, failure) -> openingUploads--);
        guarded(reply, () -> open(response, reply), () -> {});
    }

    private void open(CopiedResponse response, CompletableFuture<Progress> reply) {
        ExchangeLoop.Shared shared = proxy.shared();
        Variants known = variants;
        if (known == null) {
            known = new Variants(shared, servingLoop().counters());
            variants = known;
        }
        ResponseImport.Components components = new ResponseImport.Components(
                shared.store(),
                shared.purger(),
                shared.invalidator(),
                shared.purges().removals(),
                shared.settings(),
                shared.clock(),
                known,
                servingLoop().loop());
        ResponseImport.begin(components, response, (opened, refusal) -> {
            if (opened == null) {
                refuse(refusal, reply);
                return;
            }
            String id = ids.next();
            Upload upload = new Upload(opened, sha256(), response.length());
            uploads.put(id, upload);
            touch(id, upload);
            reply.complete(new Progress(id, false, null));
        });
    }

    private void refuse(String why, CompletableFuture<Progress> reply) {
        servingLoop().counters().increment(Counter.COPIES_REFUSED);
        reply.complete(Progress.refused(why));
    }

    /** Restarts the idle time after which the upload is aborted. */
    private void touch(String id, Upload upload) {
        EventLoop loop = servingLoop().loop();
        Future<?> before = upload.expiry;
        if (before != null) {
            before.cancel(false);
        }
        upload.expiry = loop.schedule(
                () -> {
                    if (uploads.remove(id, upload)) {
                        upload.writer.abort();
                    }
                },
                IDLE_SECONDS,
                TimeUnit.SECONDS);
    }

    @Override
    public CompletionStage<Progress> add(String id, long position, byte[] content) {
        return runStep(id, (upload, reply) -> {
            if (position != upload.position || content.length > upload.length - position) {
                close(id, upload);
                upload.writer.abort();
                refuse("length", reply);
                return;
            }
            upload.digest.update(content);
            upload.position += content.length;
            if (content.length > 0) {
                upload.writer.write(position, Unpooled.wrappedBuffer(content));
            }
            Progress progress = new Progress(id, false, null);
            if (upload.writer.isWritable()) {
                reply.complete(progress);
            } else {
                upload.writer.onWritable(servingLoop().loop(), () -> reply.complete(progress));
            }
        });
    }

    @Override
    public CompletionStage<Progress> end(String id, byte[] sha256) {
        return runStep(id, (upload, reply) -> {
            close(id, upload);
            String refusal = "";
            if (upload.position != upload.length) {
                refusal = "length";
            } else if (!MessageDigest.isEqual(sha256, upload.digest.digest())) {
                refusal = "digest";
            } else if (upload.writer.isFailed()) {
                refusal = "purged-or-full";
            }
            if (!refusal.isEmpty()) {
                upload.writer.abort();
                refuse(refusal, reply);
                return;
            }
            upload.opened.compare(why -> guarded(reply, () -> complete(upload, why, reply), upload.writer::abort));
        });
    }

    private void complete(Upload upload, String refusal, CompletableFuture<Progress> reply) {
        if (!refusal.isEmpty()) {
            upload.writer.abort();
            refuse(refusal, reply);
            return;
        }
        upload.writer.complete(upload.length);
        if (upload.writer.isFailed()) {
            refuse(upload.writer.isOvertaken() ? "stored-meanwhile" : "purged-or-full", reply);
            return;
        }
        servingLoop().counters().increment(Counter.COPIES_IMPORTED);
        reply.complete(new Progress(null, true, null));
    }

    @Override
    public CompletionStage<Progress> abort(String id) {
        CompletableFuture<Progress> reply = new CompletableFuture<>();
        servingLoop().loop().execute(() -> {
            Upload upload = uploads.get(id);
            if (upload != null) {
                close(id, upload);
                upload.writer.abort();
            }
            reply.complete(Progress.refused("aborted"));
        });
        return reply;
    }

    private void close(String id, Upload upload) {
        uploads.remove(id);
        Future<?> expiry = upload.expiry;
        if (expiry != null) {
            expiry.cancel(false);
        }
    }

    /** A step of an upload, on the event loop. */
    @FunctionalInterface
    private interface Step {
        void run(Upload upload, CompletableFuture<Progress> reply);
    }

    private CompletionStage<Progress> runStep(String id, Step step) {
        CompletableFuture<Progress> reply = new CompletableFuture<>();
        servingLoop().loop().execute(() -> {
            Upload upload = uploads.get(id);
            if (upload == null) {
                reply.completeExceptionally(new AdminException(
                        404, "unknown-upload", "there is no upload " + id + "; it ended, or the worker was replaced"));
                return;
            }
            touch(id, upload);
            guarded(reply, () -> step.run(upload, reply), () -> {
                close(id, upload);
                upload.writer.abort();
            });
        });
        return reply;
    }

    /** Aborts all uploads. */
    public void close() {
        try {
            servingLoop().loop().execute(() -> {
                uploads.values().forEach(upload -> upload.writer.abort());
                uploads.clear();
            });
        } catch (RejectedExecutionException e) {
            // The event loop has ended, and the store aborts the writers when it closes.
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Returns the response; null if its head is not valid. */
    private @Nullable CopiedResponse copied(NewCopy copy) throws AdminException {
        if (!(TargetUri.parseAbsolute(copy.url()) instanceof TargetUri url)) {
            throw new AdminException(400, "bad-url", "not an absolute http or https URL: " + copy.url());
        }
        checkTags(copy.tags());
        byte[] head = copy.head();
        if (head.length > HEAD_BYTES_MAX) {
            throw new AdminException(
                    413, "head-too-large", "head: actual=" + head.length + " bytes, limit=" + HEAD_BYTES_MAX);
        }
        int lineEnd = lineEnd(head);
        String line = new String(head, 0, Math.max(0, lineEnd), StandardCharsets.ISO_8859_1);
        int status = status(line);
        FieldSection fields = lineEnd < 0 ? null : FieldSection.parse(head, lineEnd + 2, head.length);
        FieldSection selecting = fields(copy.requestFields());
        if (status == 0 || fields == null || selecting == null || (status == 204 && copy.length() > 0)) {
            return null;
        }
        long nowMillis = proxy.shared().clock().millis();
        long sinceExport = Math.max(0, nowMillis - copy.exportedMillis());
        long ageSeconds = Math.min(AGE_SECONDS_MAX, copy.ageSeconds());
        return new CopiedResponse(
                url,
                copy.requestMethod(),
                selecting,
                copy.requestFields() != null,
                status,
                line.length() > STATUS_END + 1 ? line.substring(STATUS_END + 1) : "",
                fields,
                copy.length(),
                ageSeconds + Math.min(AGE_SECONDS_MAX, (sinceExport + 999) / 1000),
                fetchedMillis(copy, fields, nowMillis, Math.min(nowMillis, sinceExport) + 1000 * ageSeconds),
                copy.lifetimeSecondsMax(),
                copy.tags());
    }

    /**
     * Returns a time by this machine's clock that is not after the fetch. The clock of the source may be ahead. So the
     * result is limited by the age and by the Date of the origin, which do not depend on the clock of the source.
     */
    private static long fetchedMillis(NewCopy copy, FieldSection fields, long nowMillis, long ageMillis) {
        long beforeExport = Math.max(0, copy.exportedMillis() - copy.requestMillis());
        long fetched = Math.min(copy.requestMillis(), nowMillis - Math.max(beforeExport, ageMillis));
        long dateSeconds = HttpDates.parse(fields, FieldName.DATE, Math.floorDiv(nowMillis, 1000L));
        return dateSeconds == HttpDates.INVALID ? fetched : Math.min(fetched, 1000 * dateSeconds);
    }

    private static void checkTags(byte[] packed) throws AdminException {
        try {
            if (packed.length > 0) {
                Tags.ofPacked(null, packed);
            }
        } catch (IllegalArgumentException e) {
            throw new AdminException(400, "bad-request", "packed tags cannot be read: " + e.getMessage());
        }
    }

    private static int lineEnd(byte[] head) {
        for (int i = 0; i + 1 < head.length; i++) {
            if (head[i] == '\r' && head[i + 1] == '\n') {
                return i;
            }
        }
        return -1;
    }

    private static int status(String line) {
        boolean isHttp = line.length() >= STATUS_END
                && line.startsWith("HTTP/1.")
                && line.charAt(STATUS_START - 1) == ' '
                && (line.length() == STATUS_END || line.charAt(STATUS_END) == ' ');
        int status = 0;
        for (int i = STATUS_START; isHttp && i < STATUS_END; i++) {
            int digit = line.charAt(i) - '0';
            status = digit < 0 || digit > 9 ? 0 : 10 * status + digit;
        }
        return status < 200 || status > 599 ? 0 : status;
    }

    private static @Nullable FieldSection fields(@Nullable List<String> lines) {
        FieldSection.Builder fields = FieldSection.builder();
        try {
            for (String line : lines == null ? List.<String>of() : lines) {
                int colon = line.indexOf(':');
                fields.add(
                        line.substring(0, Math.max(0, colon)),
                        line.substring(colon + 1).strip());
            }
            return fields.build();
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
