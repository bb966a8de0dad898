package io.millrace.proxy.expression.stored;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A stored response as expressions see it. Confined to one thread. */
public interface StoredFacts {
    /** The URL that it is stored for. */
    StoredUrl url();

    /** Its status code. */
    int status();

    /** Its Content-Type as it came, or null. */
    @Nullable
    String contentType();

    /** Nanoseconds since it was stored or last validated. */
    long ageNanos();

    /** Bytes of its content, -1 where that is not known. */
    long bodyBytes();

    /** Its tags. */
    List<String> tags();

    /** {@code ram} or {@code disk}. */
    String tier();
}
