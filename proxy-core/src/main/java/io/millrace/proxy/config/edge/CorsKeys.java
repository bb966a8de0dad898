package io.millrace.proxy.config.edge;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.time.Duration;
import java.util.List;

/** Configuration keys for cross-origin requests (CORS, Fetch standard). Remap rules can override all of them. */
public final class CorsKeys {
    public static final ConfigKey<Boolean> ENABLED = ConfigKey.builder("cors.enabled", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .description("Whether this proxy answers for CORS, if cors.origins is set.");
    public static final ConfigKey<List<String>> ORIGINS = ConfigKey.builder("cors.origins", ValueType.CORS_ORIGINS)
            .perRule()
            .description("Origins whose scripts may read responses: https://host[:port], an expression in RE2 syntax"
                    + " after ~ that matches a whole origin, null, or * for all. Without it, the origin server's own"
                    + " CORS fields are passed on.");
    public static final ConfigKey<List<String>> METHODS = ConfigKey.builder("cors.methods", ValueType.FIELD_NAMES)
            .defaultsTo(List.of("GET", "HEAD", "POST"))
            .perRule()
            .description("Methods that preflight requests permit, or * for all (Access-Control-Allow-Methods).");
    public static final ConfigKey<List<String>> HEADERS = ConfigKey.builder("cors.headers", ValueType.FIELD_NAMES)
            .defaultsTo(List.of())
            .perRule()
            .description("Request fields that preflight requests permit, or * for all but Authorization"
                    + " (Access-Control-Allow-Headers).");
    public static final ConfigKey<List<String>> EXPOSE = ConfigKey.builder("cors.expose", ValueType.FIELD_NAMES)
            .defaultsTo(List.of())
            .perRule()
            .description("Response fields that scripts may read, or * for all (Access-Control-Expose-Headers).");
    public static final ConfigKey<Boolean> CREDENTIALS = ConfigKey.builder("cors.credentials", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description("Whether scripts may read responses to requests with cookies or Authorization"
                    + " (Access-Control-Allow-Credentials). No key may then contain *.");
    public static final ConfigKey<Duration> MAX_AGE = ConfigKey.builder("cors.max_age", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofDays(1))
            .defaultsTo(Duration.ofSeconds(5))
            .wholeSeconds()
            .perRule()
            .description("Time for which a browser remembers the answer to a preflight request"
                    + " (Access-Control-Max-Age).");

    /** All keys except {@link #ORIGINS}; they have an effect only with it. */
    static final List<ConfigKey<?>> OTHERS = List.of(ENABLED, METHODS, HEADERS, EXPOSE, CREDENTIALS, MAX_AGE);

    private CorsKeys() {}
}
