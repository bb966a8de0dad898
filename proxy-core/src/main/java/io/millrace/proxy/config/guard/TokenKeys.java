package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.key.ValueType;
import java.time.Duration;
import java.util.List;

/** Configuration keys for JSON Web Tokens (RFC 7519). Remap rules can override all of them. */
public final class TokenKeys {
    public static final ConfigKey<Boolean> ENABLED = ConfigKey.builder("jwt.enabled", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .description("Whether requests need a token, if jwt.keys_file or jwt.keys_url is set.");
    public static final ConfigKey<LoadedFile> KEYS_FILE = ConfigKey.builder("jwt.keys_file", ValueType.FILE)
            .perRule()
            .description("File with the public keys of the issuer, a JSON Web Key Set (RFC 7517). A request without a"
                    + " valid token is answered with 401. The file is read again at each reload.");
    public static final ConfigKey<String> KEYS_URL = ConfigKey.builder("jwt.keys_url", ValueType.STRING)
            .perRule()
            .description("URL of the issuer's key set, instead of jwt.keys_file: https, or http on loopback. It is"
                    + " fetched with the first token, and again when its Cache-Control says so.");
    public static final ConfigKey<String> ISSUER = ConfigKey.builder("jwt.issuer", ValueType.STRING)
            .perRule()
            .description("Value that the claim iss must have. Without it any value is accepted.");
    public static final ConfigKey<List<String>> AUDIENCE = ConfigKey.builder("jwt.audience", ValueType.NAMES)
            .perRule()
            .description("Values of which the claim aud must contain at least one. Without it any value is accepted.");
    public static final ConfigKey<List<String>> REQUIRED_CLAIMS = ConfigKey.builder(
                    "jwt.required_claims", ValueType.NAMES)
            .perRule()
            .description("Claims that a token must have, each as NAME=VALUE. A claim that is a list, or the words of"
                    + " scope, must contain the value.");
    public static final ConfigKey<String> COOKIE = ConfigKey.builder("jwt.cookie", ValueType.STRING)
            .perRule()
            .description("Name of a cookie with the token, for requests without a token in Authorization. Without it"
                    + " only Authorization is read.");
    public static final ConfigKey<Boolean> FORWARD = ConfigKey.builder("jwt.forward", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description("Whether the origin gets Authorization. Then responses are stored only as RFC 9111 section 3.5"
                    + " permits it for such requests.");
    public static final ConfigKey<String> REALM = ConfigKey.builder("jwt.realm", ValueType.STRING)
            .defaultsTo("restricted")
            .perRule()
            .description("Name of the protected area, in WWW-Authenticate of the answer 401.");
    public static final ConfigKey<Duration> CLOCK_SKEW = ConfigKey.builder("jwt.clock_skew", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofHours(1))
            .wholeSeconds()
            .defaultsTo(Duration.ofSeconds(60))
            .perRule()
            .description("Tolerance for the times in tokens, exp and nbf, because clocks differ.");
    public static final ConfigKey<String> WHEN = ConfigKey.builder("jwt.when", ValueType.STRING)
            .perRule()
            .description("Condition on the requests that need a token, such as path =~ \"^/api/\"; see"
                    + " docs/reference/expressions.md. Without it all requests of the rule need one.");

    private TokenKeys() {}
}
