package io.millrace.proxy.http.forward;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import org.jspecify.annotations.Nullable;

/**
 * Selects the trailer fields that a proxy forwards (RFC 9110 s6.5).
 *
 * <p>A trailer section must not change framing, routing, caching or authentication: recipients have decided those from the
 * head (s6.5.1). Fields that this proxy acts on are therefore dropped, as are fields of the connection. ETag is kept: its
 * definition permits it in trailers (s8.8.3).
 */
public final class TrailerFields {
    private TrailerFields() {}

    /** The fields that may be forwarded; null without any. */
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

    /** Whether the sender of the request takes trailers: {@code TE: trailers} (RFC 9110 s10.1.4). */
    public static boolean areWanted(FieldSection request) {
        return request.hasToken(FieldName.TE, "trailers");
    }
}
