package io.millrace.cli.warm;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A sequence of requests to warm. The same input always gives the same sequence. Confined to one thread. Blocks. */
public interface UrlSource extends Closeable {
    /**
     * Returns the next request; null at the end.
     *
     * @throws IOException if the input cannot be read; the message names it
     */
    @Nullable
    Item next() throws IOException;

    /** Number of parts of the input that are no request, such as log lines of other methods. */
    default long skipped() {
        return 0;
    }

    /**
     * A URL as text, with further request fields. Immutable.
     *
     * @param url as in the input
     * @param fields lines {@code Name: value} for this request only, which select a variant; empty for none
     */
    record Item(String url, Iterable<String> fields) {
        /** A URL without further fields. */
        public static Item of(String url) {
            return new Item(url, java.util.List.of());
        }
    }
}
