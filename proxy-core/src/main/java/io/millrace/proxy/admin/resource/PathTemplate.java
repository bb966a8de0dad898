package io.millrace.proxy.admin.resource;

import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A path with variable segments, such as <code>/service/{id}/purge/{key}</code>. Immutable. */
public final class PathTemplate {
    private final String[] segments;

    public PathTemplate(String template) {
        segments = template.split("/", -1);
    }

    /** Returns true if a path of a resource has variable segments. */
    public static boolean isTemplate(String path) {
        return path.indexOf('{') >= 0;
    }

    /**
     * Returns the decoded values of the variable segments; null if the target does not match. No value is empty. A
     * percent-encoded slash belongs to a value.
     *
     * @param target path and query, as received
     */
    public @Nullable List<String> values(String target) {
        String[] received = TargetPath.received(target).split("/", -1);
        if (received.length != segments.length) {
            return null;
        }
        List<String> values = new ArrayList<>();
        for (int i = 0; i < segments.length; i++) {
            if (!segments[i].startsWith("{")) {
                if (!segments[i].equals(received[i])) {
                    return null;
                }
                continue;
            }
            String value = decoded(received[i]);
            if (value == null || value.isEmpty()) {
                return null;
            }
            values.add(value);
        }
        return values;
    }

    private static @Nullable String decoded(String segment) {
        try {
            // In a path, a plus sign is not an encoded space.
            return QueryStringDecoder.decodeComponent(segment.replace("+", "%2B"));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
