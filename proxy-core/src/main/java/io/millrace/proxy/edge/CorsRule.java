package io.millrace.proxy.edge;

import com.google.re2j.Pattern;
import io.millrace.proxy.config.edge.CorsConfig;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The CORS fields of the responses of one remap rule (Fetch standard, section "HTTP extensions" of the CORS protocol).
 * They replace the CORS fields of the origin server at delivery, so that one stored response serves all origins. Fields
 * for listed origins are built in advance; only a match of an expression allocates. Immutable.
 */
public final class CorsRule {
    /**
     * The CORS fields of responses. Values that the origin server sent are removed, because this rule sets these
     * fields.
     */
    private static final List<FieldName> OWN = List.of(
            CorsFields.ALLOW_ORIGIN,
            CorsFields.ALLOW_CREDENTIALS,
            CorsFields.ALLOW_METHODS,
            CorsFields.ALLOW_HEADERS,
            CorsFields.ALLOW_PRIVATE_NETWORK,
            CorsFields.EXPOSE_HEADERS,
            CorsFields.MAX_AGE);

    /** The changes for one permitted origin: of a response, and of the answer to a preflight request. */
    private record Permission(String origin, FieldEdits response, FieldEdits preflight) {}

    private final CorsConfig config;
    private final @Nullable Permission any;
    private final Permission[] listed;
    private final Pattern[] patterns;
    /** The changes for requests without Origin, and for origins that are not permitted. */
    private final FieldEdits refused;

    CorsRule(CorsConfig config) {
        this.config = config;
        any = config.isAny() ? permission("*") : null;
        listed = config.origins().stream().map(this::permission).toArray(Permission[]::new);
        patterns = config.patterns().toArray(Pattern[]::new);
        refused = FieldEdits.of(OWN, varying().build());
    }

    private Permission permission(String origin) {
        FieldSection.Builder response = varying().add(CorsFields.ALLOW_ORIGIN, origin);
        if (config.credentials()) {
            response.add(CorsFields.ALLOW_CREDENTIALS, "true");
        }
        FieldSection.Builder preflight = FieldSection.builder().addAll(response.build());
        addList(response, CorsFields.EXPOSE_HEADERS, config.expose());
        addList(preflight, CorsFields.ALLOW_METHODS, config.methods());
        addList(preflight, CorsFields.ALLOW_HEADERS, config.headers());
        preflight.add(CorsFields.MAX_AGE, config.maxAgeSeconds());
        return new Permission(origin, FieldEdits.of(OWN, response.build()), FieldEdits.of(OWN, preflight.build()));
    }

    /** Returns a builder with Vary, unless all clients get the same fields (Fetch standard, "CORS and caches"). */
    private FieldSection.Builder varying() {
        FieldSection.Builder fields = FieldSection.builder();
        return config.isAny() ? fields : fields.add(FieldName.VARY, FieldName.ORIGIN.text());
    }

    private static void addList(FieldSection.Builder fields, FieldName name, List<String> values) {
        if (!values.isEmpty()) {
            fields.add(name, String.join(", ", values));
        }
    }

    /** Returns true if a request is a preflight request, which a browser sends before a request of a script. */
    public static boolean isPreflight(RequestHead request) {
        return request.method() == Method.OPTIONS
                && request.fields().contains(FieldName.ORIGIN)
                && request.fields().contains(CorsFields.REQUEST_METHOD);
    }

    /** Returns the changes of the fields of any response to a request, also of one that is refused or fails. */
    public FieldEdits response(FieldSection request) {
        Permission permission = find(request);
        return permission == null ? refused : permission.response();
    }

    /** Returns the changes of the fields of the answer to a preflight request; null if its origin is not permitted. */
    public @Nullable FieldEdits preflight(FieldSection request) {
        Permission permission = find(request);
        return permission == null ? null : permission.preflight();
    }

    private @Nullable Permission find(FieldSection request) {
        if (any != null) {
            return any;
        }
        int line = request.find(FieldName.ORIGIN);
        if (line < 0 || request.next(FieldName.ORIGIN, line) >= 0) {
            return null;
        }
        byte[] bytes = request.bytes();
        int start = request.valueStart(line);
        int end = request.valueEnd(line);
        for (Permission each : listed) {
            if (each.origin().length() == end - start && FieldLexer.equals(bytes, start, end, each.origin())) {
                return each;
            }
        }
        if (patterns.length > 0) {
            String origin = request.value(line);
            for (Pattern pattern : patterns) {
                if (pattern.matcher(origin).matches()) {
                    return permission(origin);
                }
            }
        }
        return null;
    }
}
