package io.millrace.proxy.admin.copy;

import io.millrace.proxy.admin.resource.AdminCaller;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Reads stored responses, for {@code GET /v1/cache/object}. Thread-safe. */
public interface CopySource {
    /** Limit of the content in one answer, in bytes. */
    int PART_BYTES_MAX = 256 << 10;

    /**
     * Returns the head of a stored response. Only complete responses that other caches may store are copied.
     *
     * @param key the bytes of its key
     * @return fails with status 404 if nothing is stored, with 409 and an error code if the response is not copied:
     *     {@code partial} (its content is incomplete), {@code purged}, or {@code of-one-client} (it has Set-Cookie, or
     *     cookies, credentials or a canary split select it)
     */
    CompletionStage<StoredCopy> head(byte[] key, AdminCaller caller);

    /**
     * Returns a part of the content, at most {@link #PART_BYTES_MAX} bytes.
     *
     * @param version version in {@link StoredCopy}
     * @param position from 0 to the length of the content, exclusive
     * @return fails with status 409 ({@code changed}) if another response is stored now
     */
    CompletionStage<byte[]> content(byte[] key, String version, long position);

    /**
     * The head of a stored response. Immutable.
     *
     * @param url the URL of its key
     * @param head status line and field lines, each with CRLF, without the empty line
     * @param varies whether request fields select it
     * @param requestFields lines {@code Name: value} of a request that selects it
     * @param length length of the content in bytes
     * @param requestMillis time of the request to the origin, in epoch milliseconds
     * @param responseMillis time of the response or of its last validation, in epoch milliseconds
     * @param ageSeconds the age at {@code nowMillis}
     * @param lifetimeSeconds the freshness lifetime
     * @param nowMillis the present time, in epoch milliseconds
     * @param tags the tags, each followed by a line feed
     * @param version identifies the stored response; another response under the key has another version
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record StoredCopy(
            String url,
            byte[] head,
            boolean varies,
            List<String> requestFields,
            long length,
            long requestMillis,
            long responseMillis,
            long ageSeconds,
            long lifetimeSeconds,
            long nowMillis,
            byte[] tags,
            String version) {}
}
