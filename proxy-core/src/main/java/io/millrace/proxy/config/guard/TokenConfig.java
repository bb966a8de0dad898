package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.request.RequestFacts;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The tokens (RFC 7519) that the requests of one remap rule need. Immutable. */
public final class TokenConfig {
    private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "[::1]");

    /** The settings that determine whether a token is valid: the input of {@link #digest()}. */
    private static final List<ConfigKey<?>> VALIDITY_KEYS = List.of(
            TokenKeys.KEYS_FILE,
            TokenKeys.KEYS_URL,
            TokenKeys.ISSUER,
            TokenKeys.AUDIENCE,
            TokenKeys.REQUIRED_CLAIMS,
            TokenKeys.CLOCK_SKEW);

    /**
     * A claim that a token must have.
     *
     * @param name the name of the claim
     * @param value the value, or one of the values
     */
    public record Claim(String name, String value) {}

    private final @Nullable TokenKeySet keys;
    private final @Nullable String keysUrl;
    private final @Nullable String issuer;
    private final List<String> audience;
    private final List<Claim> claims;
    private final @Nullable String cookie;
    private final boolean forwardsToken;
    private final int skewSeconds;
    private final String realm;
    private final @Nullable Expression<RequestFacts> when;
    private final byte[] digest;

    private TokenConfig(ConfigValues inForce) throws InvalidValueException {
        LoadedFile file = inForce.find(TokenKeys.KEYS_FILE);
        keys = file == null ? null : TokenKeySet.parse(file);
        keysUrl = inForce.find(TokenKeys.KEYS_URL);
        issuer = inForce.find(TokenKeys.ISSUER);
        List<String> audiences = inForce.find(TokenKeys.AUDIENCE);
        audience = audiences == null ? List.of() : audiences;
        claims = claims(inForce);
        cookie = inForce.find(TokenKeys.COOKIE);
        forwardsToken = inForce.get(TokenKeys.FORWARD);
        skewSeconds = (int) inForce.get(TokenKeys.CLOCK_SKEW).toSeconds();
        realm = inForce.get(TokenKeys.REALM);
        String condition = inForce.find(TokenKeys.WHEN);
        when = condition == null ? null : RequestConditions.parse(condition);
        digest = digest(inForce, file);
    }

    private static byte[] digest(ConfigValues inForce, @Nullable LoadedFile file) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            for (ConfigKey<?> key : VALIDITY_KEYS) {
                sha256.update((key.path() + '=' + inForce.find(key) + '\n').getBytes(StandardCharsets.UTF_8));
            }
            return sha256.digest(file == null ? new byte[0] : file.content());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-256", e);
        }
    }

    /**
     * Reads the settings of a remap rule.
     *
     * @param inForce the values of the rule, completed by the general values
     * @return null if no token is needed
     * @throws InvalidValueException if a setting or the file has a fault
     */
    public static @Nullable TokenConfig from(ConfigValues inForce) throws InvalidValueException {
        return isSet(inForce) && inForce.get(TokenKeys.ENABLED) ? new TokenConfig(inForce) : null;
    }

    /**
     * Returns the values of a remap rule, completed by the general values. If the rule sets jwt.keys_file or
     * jwt.keys_url, both general keys are ignored.
     */
    public static ConfigValues inForce(ConfigValues own, ConfigValues general) {
        return isSet(own)
                ? own.over(general.without(TokenKeys.KEYS_FILE).without(TokenKeys.KEYS_URL))
                : own.over(general);
    }

    /** Returns true if the values name the keys of an issuer. */
    public static boolean isSet(ConfigValues values) {
        return values.isSet(TokenKeys.KEYS_FILE) || values.isSet(TokenKeys.KEYS_URL);
    }

    private static List<Claim> claims(ConfigValues values) throws InvalidValueException {
        List<String> required = values.find(TokenKeys.REQUIRED_CLAIMS);
        List<Claim> claims = new ArrayList<>();
        for (String text : required == null ? List.<String>of() : required) {
            int equals = text.indexOf('=');
            if (equals < 1 || equals == text.length() - 1) {
                throw new InvalidValueException(text + ": is not of the form NAME=VALUE, such as role=reader");
            }
            claims.add(new Claim(text.substring(0, equals), text.substring(equals + 1)));
        }
        return List.copyOf(claims);
    }

    /**
     * Checks the claims.
     *
     * @throws InvalidValueException if one is not of the form NAME=VALUE
     */
    public static void checkClaims(ConfigValues values) throws InvalidValueException {
        claims(values);
    }

    /**
     * Checks the condition.
     *
     * @throws InvalidValueException if it is no condition on requests
     */
    public static void checkWhen(ConfigValues values) throws InvalidValueException {
        RequestConditions.parse(values.get(TokenKeys.WHEN));
    }

    /**
     * Checks the file of keys.
     *
     * @throws InvalidValueException if a key has a fault, or the library for tokens is not available
     */
    public static void checkFile(ConfigValues values) throws InvalidValueException {
        checkLibrary();
        TokenKeySet.parse(values.get(TokenKeys.KEYS_FILE));
    }

    /**
     * Checks the URL of keys.
     *
     * @throws InvalidValueException if the URL is malformed, or uses http without a loopback address, so that an
     *     attacker on the network could replace the keys; or if the library for tokens is not available
     */
    public static void checkUrl(ConfigValues values) throws InvalidValueException {
        checkLibrary();
        try {
            URI url = new URI(values.get(TokenKeys.KEYS_URL));
            String scheme = url.getScheme() == null ? "" : url.getScheme();
            boolean safe = scheme.equals("https") || (scheme.equals("http") && LOOPBACK.contains(url.getHost()));
            if (url.getHost() == null || !safe) {
                throw new InvalidValueException("needs https://, or http:// with a loopback address, and a host");
            }
            if (url.getUserInfo() != null || url.getFragment() != null) {
                throw new InvalidValueException("must not contain a user, a password or a fragment");
            }
        } catch (URISyntaxException e) {
            throw new InvalidValueException("is not a URL: " + e.getMessage());
        }
    }

    private static void checkLibrary() throws InvalidValueException {
        try {
            Class.forName("org.jose4j.jwk.JsonWebKeySet", false, TokenConfig.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new InvalidValueException(
                    "needs org.bitbucket.b_c:jose4j, which is not a dependency of this application");
        }
    }

    /** Returns the regular expressions of the condition; empty if the condition has a fault. */
    public static List<String> patterns(ConfigValues values) {
        String when = values.find(TokenKeys.WHEN);
        try {
            return when == null ? List.of() : RequestConditions.parse(when).patterns();
        } catch (InvalidValueException e) {
            return List.of();
        }
    }

    /** The keys from a file; null if they have a URL. */
    public @Nullable TokenKeySet keys() {
        return keys;
    }

    /** The URL of the keys; null if they are from a file. */
    public @Nullable String keysUrl() {
        return keysUrl;
    }

    /** The value of iss; null for any. */
    public @Nullable String issuer() {
        return issuer;
    }

    /** Permitted values of aud; empty for any. */
    public List<String> audience() {
        return audience;
    }

    /** Claims that a token must have besides exp. */
    public List<Claim> claims() {
        return claims;
    }

    /** Name of a cookie with the token; null for none. */
    public @Nullable String cookie() {
        return cookie;
    }

    /** Whether the origin gets the token. */
    public boolean forwardsToken() {
        return forwardsToken;
    }

    /** Tolerance for exp and nbf in seconds. */
    public int skewSeconds() {
        return skewSeconds;
    }

    /** The condition on requests that need a token; null for all. */
    public @Nullable Expression<RequestFacts> when() {
        return when;
    }

    /**
     * The value of WWW-Authenticate (RFC 6750 section 3).
     *
     * @param hasInvalidToken whether the request has a token, which is not valid
     */
    public String challenge(boolean hasInvalidToken) {
        return "Bearer realm=\"" + realm + '"' + (hasInvalidToken ? ", error=\"invalid_token\"" : "");
    }

    /** SHA-256 of the settings that determine if a token is valid. Borrowed, and must not be changed. */
    public byte[] digest() {
        return digest;
    }
}
