package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.http.FieldName;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The authorisation server that decides about the requests of one remap rule. Immutable. */
public final class AuthorizeConfig {
    /** The methods of requests to the server. */
    public enum SentMethod {
        GET,
        HEAD,
        POST
    }

    /** The settings that determine a decision: the input of {@link #digest()}. */
    private static final List<ConfigKey<?>> DECISION_KEYS = List.of(
            AuthorizeKeys.URL,
            AuthorizeKeys.METHOD,
            AuthorizeKeys.SEND_FIELDS,
            AuthorizeKeys.RECEIVE_FIELDS,
            AuthorizeKeys.CACHE_KEY,
            AuthorizeKeys.TTL,
            AuthorizeKeys.NEGATIVE_TTL,
            AuthorizeKeys.ON_ERROR);

    /**
     * Fields that the server can neither get nor set: they belong to the connection, to the content, or to this proxy.
     */
    private static final Set<String> OWN_FIELDS = Set.of(
            "connection",
            "content-length",
            "expect",
            "host",
            "keep-alive",
            "max-forwards",
            "proxy-authorization",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "via");

    /** Fields that only apply to the client's own request, so that the server must not get them. */
    private static final Set<String> OF_CLIENTS = Set.of(
            "accept-encoding",
            "if-match",
            "if-modified-since",
            "if-none-match",
            "if-range",
            "if-unmodified-since",
            "range");

    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;
    private static final int PORT_MAX = 65_535;

    private final boolean secure;
    private final String host;
    private final int port;
    private final String hostField;
    private final String target;
    private final SentMethod method;
    private final List<FieldName> sendFields;
    private final List<FieldName> receiveFields;
    private final List<AuthorizeKeyPart> cacheKey;
    private final boolean collapsing;
    private final long ttlMillis;
    private final long negativeTtlMillis;
    private final long timeoutMillis;
    private final OnError onError;
    private final OnError onLimit;
    private final boolean forwardsAuthorization;
    private final @Nullable Expression<RequestFacts> when;
    private final OriginTlsConfig tls;
    private final byte[] digest;

    private AuthorizeConfig(ConfigValues inForce, OriginTlsConfig tls) throws InvalidValueException {
        URI url = url(inForce);
        secure = isSecure(url);
        String name = url.getHost().toLowerCase(Locale.ROOT);
        host = name.startsWith("[") ? name.substring(1, name.length() - 1) : name;
        int standard = secure ? HTTPS_PORT : HTTP_PORT;
        port = url.getPort() < 0 ? standard : url.getPort();
        hostField = port == standard ? name : name + ':' + port;
        String path = url.getRawPath() == null || url.getRawPath().isEmpty() ? "/" : url.getRawPath();
        target = url.getRawQuery() == null ? path : path + '?' + url.getRawQuery();
        method = inForce.get(AuthorizeKeys.METHOD);
        sendFields = inForce.get(AuthorizeKeys.SEND_FIELDS).stream()
                .map(FieldName::of)
                .toList();
        receiveFields = receiveFields(inForce);
        List<String> parts = inForce.find(AuthorizeKeys.CACHE_KEY);
        cacheKey = parts == null
                ? AuthorizeKeyPart.all(sendFields)
                : AuthorizeKeyPart.withSent(AuthorizeKeyPart.parse(parts), sendFields);
        ttlMillis = inForce.get(AuthorizeKeys.TTL).toMillis();
        negativeTtlMillis = inForce.get(AuthorizeKeys.NEGATIVE_TTL).toMillis();
        // Different requests may have equal parts in authorize.cache_key. If the ttl is 0, each of these requests needs
        // its own decision.
        collapsing = parts == null || ttlMillis > 0;
        timeoutMillis = inForce.get(AuthorizeKeys.TIMEOUT).toMillis();
        onError = inForce.get(AuthorizeKeys.ON_ERROR);
        onLimit = inForce.get(AuthorizeKeys.ON_LIMIT);
        boolean sent = sendFields.contains(FieldName.AUTHORIZATION);
        forwardsAuthorization = !sent || inForce.get(AuthorizeKeys.FORWARD);
        String condition = inForce.find(AuthorizeKeys.WHEN);
        when = condition == null ? null : RequestConditions.parse(condition);
        this.tls = tls;
        digest = digest(inForce);
    }

    private static byte[] digest(ConfigValues inForce) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            for (ConfigKey<?> key : DECISION_KEYS) {
                sha256.update((key.path() + '=' + inForce.find(key) + '\n').getBytes(StandardCharsets.UTF_8));
            }
            return sha256.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-256", e);
        }
    }

    /**
     * Reads the settings of a remap rule.
     *
     * @param inForce the values of the rule, completed by the general values
     * @param general the general values; their TLS settings for origins apply to the server
     * @return null if no server decides
     * @throws InvalidValueException if a setting has a fault
     */
    public static @Nullable AuthorizeConfig from(ConfigValues inForce, ConfigValues general)
            throws InvalidValueException {
        if (!inForce.isSet(AuthorizeKeys.URL) || !inForce.get(AuthorizeKeys.ENABLED)) {
            return null;
        }
        // The TLS handshake uses the host name of the URL, not the name that is configured for origins.
        OriginTlsConfig.Context context = OriginTlsConfig.from(general).context();
        return new AuthorizeConfig(inForce, new OriginTlsConfig(context, OriginTlsConfig.Sni.ORIGIN, null));
    }

    /**
     * Returns the fields that only the authorisation server may set. They are returned even if {@code
     * authorize.enabled} is false, because the origin trusts these fields in requests of all rules.
     *
     * @param inForce as for {@link #from}
     */
    public static List<FieldName> receiveFields(ConfigValues inForce) {
        return inForce.isSet(AuthorizeKeys.URL)
                ? inForce.get(AuthorizeKeys.RECEIVE_FIELDS).stream()
                        .map(FieldName::of)
                        .toList()
                : List.of();
    }

    private static boolean isSecure(URI url) {
        return "https".equalsIgnoreCase(url.getScheme());
    }

    private static URI url(ConfigValues values) throws InvalidValueException {
        URI url;
        try {
            url = new URI(values.get(AuthorizeKeys.URL));
        } catch (URISyntaxException e) {
            throw new InvalidValueException("is not a URL: " + e.getMessage());
        }
        if (url.getHost() == null || !(isSecure(url) || "http".equalsIgnoreCase(url.getScheme()))) {
            throw new InvalidValueException("needs http:// or https:// and a host");
        }
        if (url.getUserInfo() != null || url.getFragment() != null) {
            throw new InvalidValueException("must not contain a user, a password or a fragment");
        }
        if (url.getPort() == 0 || url.getPort() > PORT_MAX) {
            throw new InvalidValueException("has the port " + url.getPort() + ", limit=1..65535");
        }
        return url;
    }

    /**
     * Checks the URL.
     *
     * @throws InvalidValueException if it is no http or https URL
     */
    public static void checkUrl(ConfigValues values) throws InvalidValueException {
        url(values);
    }

    /**
     * Checks the fields that the server gets.
     *
     * @throws InvalidValueException if one belongs to the connection or to the content
     */
    public static void checkSendFields(ConfigValues values) throws InvalidValueException {
        for (String name : values.get(AuthorizeKeys.SEND_FIELDS)) {
            String lower = name.toLowerCase(Locale.ROOT);
            if (OWN_FIELDS.contains(lower) || OF_CLIENTS.contains(lower) || lower.startsWith("x-forwarded-")) {
                throw new InvalidValueException(name + ": cannot be sent, since this proxy writes it itself, or it"
                        + " belongs to the client's own request");
            }
        }
    }

    /**
     * Checks the fields that the origin gets.
     *
     * @throws InvalidValueException if one belongs to the connection, to the content, or to the fields that name the
     *     client
     */
    public static void checkReceiveFields(ConfigValues values) throws InvalidValueException {
        for (String name : values.get(AuthorizeKeys.RECEIVE_FIELDS)) {
            checkReceived(name);
        }
    }

    /**
     * Checks the name of a request field that this proxy sets for origins.
     *
     * @throws InvalidValueException as {@link #checkReceiveFields}
     */
    public static void checkReceived(String name) throws InvalidValueException {
        String lower = name.toLowerCase(Locale.ROOT).replace('_', '-');
        if (OWN_FIELDS.contains(lower) || OF_CLIENTS.contains(lower) || lower.startsWith("content-")) {
            throw new InvalidValueException(name + ": cannot be set, since it belongs to the connection, to the"
                    + " content or to the client's own request");
        }
        if (lower.equals("forwarded") || lower.startsWith("x-forwarded") || lower.startsWith("x-original-")) {
            throw new InvalidValueException(name + ": cannot be set, since origins take it for the client's"
                    + " address or URL; use another name, such as X-Auth-User");
        }
    }

    /**
     * Checks the parts of the key.
     *
     * @throws InvalidValueException if one is unknown
     */
    public static void checkCacheKey(ConfigValues values) throws InvalidValueException {
        AuthorizeKeyPart.parse(values.get(AuthorizeKeys.CACHE_KEY));
    }

    /**
     * Checks the condition.
     *
     * @throws InvalidValueException if it is no condition on requests
     */
    public static void checkWhen(ConfigValues values) throws InvalidValueException {
        RequestConditions.parse(values.get(AuthorizeKeys.WHEN));
    }

    /** Returns the regular expressions of the condition; empty if the condition has a fault. */
    public static List<String> patterns(ConfigValues values) {
        String when = values.find(AuthorizeKeys.WHEN);
        try {
            return when == null ? List.of() : RequestConditions.parse(when).patterns();
        } catch (InvalidValueException e) {
            return List.of();
        }
    }

    /** Whether connections to the server use TLS. */
    public boolean isSecure() {
        return secure;
    }

    /** Name or address of the server, without brackets. */
    public String host() {
        return host;
    }

    /** Port of the server. */
    public int port() {
        return port;
    }

    /** The Host field of requests to the server. */
    public String hostField() {
        return hostField;
    }

    /** Path and query of requests to the server. */
    public String target() {
        return target;
    }

    /** Method of requests to the server. */
    public SentMethod method() {
        return method;
    }

    /** Fields of the client that the server gets. */
    public List<FieldName> sendFields() {
        return sendFields;
    }

    /** Fields of the server that the origin gets. */
    public List<FieldName> receiveFields() {
        return receiveFields;
    }

    /** Parts of a request that determine the decision. They include all fields that the server gets. */
    public List<AuthorizeKeyPart> cacheKey() {
        return cacheKey;
    }

    /** Whether concurrent requests with equal parts share one request to the server. */
    public boolean isCollapsing() {
        return collapsing;
    }

    /** Time for which an allowed request is remembered, in milliseconds; 0 for none. */
    public long ttlMillis() {
        return ttlMillis;
    }

    /** Time for which a refused request is remembered, in milliseconds; 0 for none. */
    public long negativeTtlMillis() {
        return negativeTtlMillis;
    }

    /** Time limit of a request to the server, in milliseconds. */
    public long timeoutMillis() {
        return timeoutMillis;
    }

    /** Whether requests are allowed if the server makes no decision. */
    public boolean isOpenOnError() {
        return onError == OnError.OPEN;
    }

    /** Whether requests are allowed if the server is not asked because a limit of this proxy is reached. */
    public boolean isOpenOnLimit() {
        return onLimit == OnError.OPEN;
    }

    /** Whether the origin gets the Authorization field of the client. */
    public boolean forwardsAuthorization() {
        return forwardsAuthorization;
    }

    /** The condition on requests that the server decides about; null for all. */
    public @Nullable Expression<RequestFacts> when() {
        return when;
    }

    /** TLS settings of connections to the server: those for all origins. */
    public OriginTlsConfig tls() {
        return tls;
    }

    /** SHA-256 of the settings that determine a decision. Borrowed, and must not be changed. */
    public byte[] digest() {
        return digest;
    }
}
