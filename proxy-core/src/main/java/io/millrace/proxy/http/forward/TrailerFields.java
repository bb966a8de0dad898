package io.millrace.proxy.http.forward;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import org.jspecify.annotations.Nullable;

/**
 * Selects the trailer fields that a proxy forwards (RFC 9110 s6.5).
 *
 * <p>A trailer section must not change framing, routing, caching or authentication, which recipients have already
 * decided from the head (s6.5.1). Therefore all fields that this proxy knows ({@link FieldName}) are dropped. ETag is
 * kept, because its definition allows it in trailers (s8.8.3).
 */
public final class TrailerFields {
    private TrailerFields() {}

    /** Returns the fields that may be forwarded; null for none. */
    public static @Nullable FieldSection forwardable(@Nullable FieldSection trailers) {
        if (trailers == null || trailers.size() == 0) {
            return null;
        }
        FieldSection.Builder kept = FieldSection.builderLike(trailers);
        for (int line = 0; line < trailers.size(); line++) {
            if (!trailers.isWellKnown(line) || trailers.isNamed(line, FieldName.ETAG)) {
                kept.addLine(trailers, line);
            }
        }
        return kept.size() == 0 ? null : kept.build();
    }

    /** Returns true if the sender of the request accepts trailers: {@code TE: trailers} (RFC 9110 s10.1.4). */
    public static boolean areWanted(FieldSection request) {
        return request.hasToken(FieldName.TE, "trailers");
    }
}
