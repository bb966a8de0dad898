package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.ResponseHead;
import org.jspecify.annotations.Nullable;

/**
 * The head of an origin's response as the exchanges that share it see it.
 *
 * <p>Immutable.
 *
 * @param head as it came
 * @param stored what is being stored of it, null when it is not
 * @param contentLength bytes of content to come, -1 when unknown
 * @param requestMillis when the request was sent, epoch milliseconds
 * @param responseMillis when the head came, epoch milliseconds
 */
record FetchedResponse(
        ResponseHead head, @Nullable StoredHead stored, long contentLength, long requestMillis, long responseMillis) {}
