package io.millrace.proxy.expression.stored;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The values of expression fields for one stored response. Confined to one thread. */
public interface StoredFacts {
    /** Returns the URL of the cache key. */
    StoredUrl url();

    /** Returns the status code. */
    int status();

    /** Returns the Content-Type field as the origin sent it, or null. */
    @Nullable
    String contentType();

    /** Returns the time since the response was stored or last validated, in nanoseconds. */
    long ageNanos();

    /** Returns the length of the content in bytes; -1 if it is not known. */
    long bodyBytes();

    /** Returns the tags of the response, by which it can be purged. */
    List<String> tags();

    /** Returns {@code ram} or {@code disk}. */
    String tier();

    /**
     * Returns the values of a response field, one for each field line.
     *
     * @param name in lower case
     */
    List<String> header(String name);
}
