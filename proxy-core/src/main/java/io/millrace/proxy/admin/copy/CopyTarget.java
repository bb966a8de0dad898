package io.millrace.proxy.admin.copy;

import io.millrace.proxy.admin.resource.AdminCaller;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Stores copied responses, for {@code POST /v1/cache/import}. Thread-safe. */
public interface CopyTarget {
    /** Limit of a head in bytes. */
    int HEAD_BYTES_MAX = 32 << 10;

    /** Limit of uploads in progress; a further upload is refused with status 429. */
    int UPLOADS_MAX = 16;

    /** Time without a request after which an upload is aborted, in seconds. */
    int IDLE_SECONDS = 60;

    /**
     * Begins an upload.
     *
     * @return the upload, or the refusal
     */
    CompletionStage<Progress> begin(NewCopy copy, AdminCaller caller);

    /**
     * Adds content to an upload.
     *
     * @param position number of bytes that were added before
     * @param content owned by the receiver
     */
    CompletionStage<Progress> add(String upload, long position, byte[] content);

    /**
     * Stores the response of an upload.
     *
     * @param sha256 expected digest of the content; if it differs, the response is refused with {@code digest}
     */
    CompletionStage<Progress> end(String upload, byte[] sha256);

    /** Ends an upload without storing; no effect on an unknown upload. */
    CompletionStage<Progress> abort(String upload);

    /**
     * A response to be stored. Immutable.
     *
     * @param head status line and field lines, without the empty line
     * @param requestMethod the method of the request; any method but GET is refused with {@code method}
     * @param requestFields lines {@code Name: value} that select the response; null if they are not known
     * @param length length of the content in bytes
     * @param ageSeconds the age at {@code exportedMillis}
     * @param requestMillis time of the request to the origin by the clock of the source, in epoch milliseconds
     * @param exportedMillis time of the copy by the clock of the source, in epoch milliseconds
     * @param lifetimeSecondsMax limit of the lifetime; -1 for none
     * @param tags the tags, each followed by a line feed; empty for none
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record NewCopy(
            String url,
            byte[] head,
            String requestMethod,
            @Nullable List<String> requestFields,
            long length,
            long ageSeconds,
            long requestMillis,
            long exportedMillis,
            long lifetimeSecondsMax,
            byte[] tags) {}

    /**
     * The state of an upload. Immutable.
     *
     * @param upload its identifier; null if it has ended
     * @param stored whether the response is stored
     * @param reason the reason code of a refusal; null if the response was not refused
     */
    record Progress(
            @Nullable String upload,
            boolean stored,
            @Nullable String reason) {
        /** Returns the state of an upload whose response is refused. */
        public static Progress refused(String why) {
            return new Progress(null, false, why);
        }
    }
}
