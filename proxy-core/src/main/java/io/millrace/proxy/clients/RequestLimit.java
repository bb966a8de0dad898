package io.millrace.proxy.clients;

import io.millrace.proxy.config.access.RequestLimitConfig;
import io.millrace.proxy.config.access.RequestLimitConfig.Part;
import io.millrace.proxy.config.access.RequestLimitConfig.Source;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A request rate limit, prepared for use on event loops. Computes from each request the key of its counter: client,
 * host, fields, cookies or parameters. Immutable and thread-safe.
 */
public final class RequestLimit {
    private static final long SECOND = 1_000_000_000L;

    private final RequestLimitConfig config;
    /** The source of each part of the key. {@link #fields} and {@link #names} have the same indexes. */
    private final Source[] sources;

    /** The field of each part of the key; null unless the source is {@link Source#REQUEST_HEADER}. */
    private final @Nullable FieldName[] fields;

    private final byte[][] names;
    private final boolean readsClient;
    private final long identity;
    private final String detail;
    private final String policy;

    RequestLimit(RequestLimitConfig config) {
        this.config = config;
        int size = config.key().size();
        sources = new Source[size];
        fields = new FieldName[size];
        names = new byte[size][];
        for (int i = 0; i < size; i++) {
            Part part = config.key().get(i);
            sources[i] = part.source();
            fields[i] = part.source() == Source.REQUEST_HEADER ? FieldName.of(part.name()) : null;
            names[i] = part.name().getBytes(StandardCharsets.UTF_8);
        }
        readsClient = config.key().stream().anyMatch(part -> part.source() == Source.CLIENT);
        identity = identityOf(config);
        detail = "request-limit:" + config.name();
        policy = "\"" + config.name() + "\";q=" + config.burst() + ";w=" + seconds(config.windowNanos());
    }

    /**
     * Returns a number that identifies name, rate, burst and key of the limit. A change of one of them changes the
     * number, so all counts of the limit begin again.
     */
    private static long identityOf(RequestLimitConfig config) {
        String text = config.name() + ' ' + config.intervalNanos() + ' ' + config.burst() + ' ' + config.key();
        long hash = 0;
        for (int i = 0; i < text.length(); i++) {
            hash = hash * 0x9E37_79B9_7F4A_7C15L + text.charAt(i);
        }
        return hash;
    }

    private static long seconds(long nanos) {
        return Math.max(1, (nanos + SECOND - 1) / SECOND);
    }

    /** The limit in the configuration. */
    public RequestLimitConfig config() {
        return config;
    }

    /** The name in logs and Cache-Status: {@code request-limit:api}. */
    public String detail() {
        return detail;
    }

    /** Returns true if the address of the client is a part of the key. */
    public boolean readsClient() {
        return readsClient;
    }

    /** The value of RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10 s3). */
    public String policy() {
        return policy;
    }

    /**
     * Returns the value of RateLimit for a refused request (draft-ietf-httpapi-ratelimit-headers-10 s4).
     *
     * @param waitSeconds time until a request is within the limit
     */
    public String state(long waitSeconds) {
        return "\"" + config.name() + "\";r=0;t=" + waitSeconds;
    }

    /**
     * Counts a request with a key.
     *
     * @return 0 if the request is within the limit, else the seconds until the next request is within the limit
     */
    public long take(RateTable rates, long key) {
        long result = rates.take(key, config.intervalNanos(), config.burst());
        return result >= 0 ? 0 : seconds(-result);
    }

    /** Returns the result of {@link #take} without counting. */
    public long waitSeconds(RateTable rates, long key) {
        long result = rates.peek(key, config.intervalNanos(), config.burst());
        return result >= 0 ? 0 : seconds(-result);
    }

    /** Returns the number of requests that a key may still send at once; 0 if the next request is refused. */
    public long left(RateTable rates, long key) {
        long result = rates.peek(key, config.intervalNanos(), config.burst());
        return result < 0 ? 0 : config.burst() - (result - 1) / config.intervalNanos();
    }

    /**
     * Returns the hash of the values that select the count of a request. Allocates nothing.
     *
     * @param client the address of the client; null if it is unknown or exempt
     * @return 0 if one of the values is missing in the request, so that the request is not counted
     */
    public long key(KeyHash hash, RequestHead request, @Nullable IpAddress client) {
        hash.begin().add(identity);
        for (int i = 0; i < sources.length; i++) {
            FieldName field = fields[i];
            boolean found =
                    switch (sources[i]) {
                        case ALL -> true;
                        case CLIENT -> addClient(hash, client);
                        case HOST -> addHost(hash, request.target());
                        case REQUEST_HEADER -> field != null && addField(hash, request.fields(), field);
                        case COOKIE -> addCookie(hash, request.fields(), names[i]);
                        case PARAM -> addParameter(hash, request.target(), names[i]);
                    };
            if (!found) {
                return 0;
            }
        }
        return hash.end();
    }

    private static boolean addClient(KeyHash hash, @Nullable IpAddress client) {
        if (client == null) {
            return false;
        }
        hash.add(client.high());
        if (client.isV4()) {
            hash.add(client.low());
        }
        return true;
    }

    private static boolean addHost(KeyHash hash, TargetUri target) {
        hash.add(target.hostBytes(), 0, target.hostBytes().length);
        return true;
    }

    private static boolean addField(KeyHash hash, FieldSection fields, FieldName name) {
        int line = fields.find(name);
        if (line < 0) {
            return false;
        }
        hash.add(fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
        return true;
    }

    private static boolean addCookie(KeyHash hash, FieldSection fields, byte[] name) {
        for (int line = fields.find(FieldName.COOKIE); line >= 0; line = fields.next(FieldName.COOKIE, line)) {
            if (addPair(hash, fields.bytes(), fields.valueStart(line), fields.valueEnd(line), (byte) ';', name)) {
                return true;
            }
        }
        return false;
    }

    private static boolean addParameter(KeyHash hash, TargetUri target, byte[] name) {
        return target.hasQuery()
                && addPair(hash, target.targetBytes(), target.pathEnd() + 1, target.queryEnd(), (byte) '&', name);
    }

    /** Adds the value of the first pair {@code name=value} with the name. Spaces before a pair are skipped. */
    private static boolean addPair(KeyHash hash, byte[] bytes, int from, int to, byte separator, byte[] name) {
        int start = from;
        while (start < to) {
            int end = start;
            while (end < to && bytes[end] != separator) {
                end++;
            }
            int first = start;
            while (first < end && bytes[first] == ' ') {
                first++;
            }
            int value = first + name.length;
            if (value <= end && isAt(bytes, first, name) && (value == end || bytes[value] == '=')) {
                hash.add(bytes, Math.min(end, value + 1), end);
                return true;
            }
            start = end + 1;
        }
        return false;
    }

    private static boolean isAt(byte[] bytes, int from, byte[] name) {
        for (int i = 0; i < name.length; i++) {
            if (bytes[from + i] != name[i]) {
                return false;
            }
        }
        return true;
    }

    /** The name. */
    @Override
    public String toString() {
        return config.name();
    }
}
