package io.millrace.proxy.rules;

import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.geo.GeoLocation;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import io.millrace.proxy.net.ClientConnection;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The facts about one request, read from its head and connection. Texts are created when a condition reads them;
 * the text of the path is created at most once per request. Reusable for the next request after {@link #begin}.
 *
 * <p>Confined to one event loop.
 */
public final class RequestView implements RequestFacts {
    private static final String HTTP_1_0 = "http/1.0";
    private static final String HTTP_1_1 = "http/1.1";
    private static final String HTTP_2 = "http/2";
    private static final int DAY_SECONDS = 24 * 60 * 60;
    private static final int THURSDAY = 4;

    /** Limit of cached field names. Names from conditions of earlier configurations stay in the cache. */
    private static final int NAMES_MAX = 1000;

    private final ZoneId zone;
    /** Field names by the keys of conditions. */
    private final Map<String, FieldName> names = new HashMap<>();

    private @Nullable RequestHead request;
    private @Nullable ClientConnection connection;
    private long nowMillis;
    private int random;
    private @Nullable String path;
    private int status;
    private String cacheResult = "";
    private @Nullable OutboundHead response;
    private @Nullable FieldSection responseFields;

    /** @param zone the zone of times of day */
    public RequestView(ZoneId zone) {
        this.zone = zone;
    }

    /**
     * Begins with a request whose response is unknown. Borrows both objects until {@link #end}.
     *
     * @param now the wall-clock time, in epoch milliseconds
     * @param number random number from 0 to 99, which conditions can read
     */
    public RequestView begin(RequestHead head, ClientConnection client, long now, int number) {
        request = head;
        connection = client;
        nowMillis = now;
        random = number;
        path = null;
        status = 0;
        cacheResult = "";
        response = null;
        responseFields = null;
        return this;
    }

    /**
     * Sets the response. Borrows the head until {@link #end}.
     *
     * @param result the cache result as a metric label
     */
    public RequestView answered(OutboundHead head, String result) {
        status = head.status();
        cacheResult = result;
        response = head;
        responseFields = null;
        return this;
    }

    /**
     * Sets the response of the origin, before it is stored. Borrows the fields until {@link #end}.
     *
     * @param withStatus the status of the complete representation, for example 200 if a 206 or 304 was received
     */
    public RequestView received(int withStatus, FieldSection fields) {
        status = withStatus;
        cacheResult = "";
        response = null;
        responseFields = fields;
        return this;
    }

    /** Drops the references to the request. */
    public void end() {
        request = null;
        connection = null;
        path = null;
        response = null;
        responseFields = null;
    }

    private RequestHead head() {
        if (request == null) {
            throw new IllegalStateException("begin() was not called");
        }
        return request;
    }

    @Override
    public String method() {
        return head().methodName();
    }

    @Override
    public String scheme() {
        return head().target().scheme();
    }

    @Override
    public String host() {
        return head().target().host();
    }

    @Override
    public long port() {
        return head().target().port();
    }

    @Override
    public String path() {
        String known = path;
        if (known == null) {
            known = normalPath(head().target());
            path = known;
        }
        return known;
    }

    private static String normalPath(TargetUri target) {
        byte[] bytes = target.targetBytes();
        int from = target.pathStart();
        int end = target.pathEnd();
        if (!UriBytes.hasEncodingsToNormalize(bytes, from, end)) {
            return target.path();
        }
        byte[] normal = new byte[end - from];
        int length = UriBytes.normalizePath(bytes, from, end, normal, 0);
        return new String(normal, 0, length, StandardCharsets.ISO_8859_1);
    }

    @Override
    public String query() {
        String query = head().target().query();
        return query == null ? "" : query;
    }

    @Override
    public List<String> parameters(String name) {
        String query = query();
        List<String> values = List.of();
        for (int start = 0; start < query.length(); ) {
            int end = end(query, '&', start, query.length());
            int equals = end(query, '=', start, end);
            if (equals - start == name.length() && query.startsWith(name, start)) {
                values = with(values, query.substring(Math.min(end, equals + 1), end));
            }
            start = end + 1;
        }
        return values;
    }

    @Override
    public List<String> requestHeader(String name) {
        return values(head().fields(), name(name));
    }

    @Override
    public List<String> cookies(String name) {
        return CookieValues.of(head().fields(), name);
    }

    private static int end(String text, char separator, int from, int limit) {
        int at = text.indexOf(separator, from);
        return at < 0 || at > limit ? limit : at;
    }

    private static List<String> with(List<String> values, String value) {
        List<String> more = values.isEmpty() ? new ArrayList<>() : values;
        more.add(value);
        return more;
    }

    @Override
    public @Nullable IpAddress client() {
        return connection == null ? null : connection.remoteIp();
    }

    private GeoLocation location() {
        return connection == null ? GeoLocation.UNKNOWN : connection.location();
    }

    @Override
    public @Nullable String country() {
        return location().country();
    }

    @Override
    public @Nullable String continent() {
        return location().continent();
    }

    @Override
    public long asn() {
        return location().asn();
    }

    @Override
    public String protocol() {
        RequestHead head = head();
        return head.isHttp2() ? HTTP_2 : head.minorVersion() == 0 ? HTTP_1_0 : HTTP_1_1;
    }

    private long localSeconds() {
        Instant now = Instant.ofEpochMilli(nowMillis);
        return now.getEpochSecond() + zone.getRules().getOffset(now).getTotalSeconds();
    }

    @Override
    public long timeOfDayNanos() {
        return Math.floorMod(localSeconds(), DAY_SECONDS) * 1_000_000_000L;
    }

    @Override
    public long weekday() {
        // 1970-01-01 was a Thursday.
        return Math.floorMod(Math.floorDiv(localSeconds(), (long) DAY_SECONDS) + THURSDAY - 1, 7L) + 1;
    }

    @Override
    public long random() {
        return random;
    }

    @Override
    public long status() {
        return status;
    }

    @Override
    public String cacheResult() {
        return cacheResult;
    }

    @Override
    public List<String> responseHeader(String name) {
        FieldSection fields = responseFields;
        OutboundHead head = response;
        if (fields == null && head != null) {
            byte[] wire = head.wire();
            fields = wire == null ? head.fields() : parsed(wire);
            responseFields = fields;
        }
        return fields == null ? List.of() : values(fields, name(name));
    }

    /** Returns the fields of a head with a status line. */
    private static FieldSection parsed(byte[] wire) {
        int start = 0;
        while (start < wire.length && wire[start] != '\n') {
            start++;
        }
        FieldSection fields = start + 1 >= wire.length ? null : FieldSection.parse(wire, start + 1, wire.length);
        return fields == null ? FieldSection.EMPTY : fields;
    }

    private FieldName name(String name) {
        FieldName known = names.get(name);
        if (known == null) {
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            known = FieldName.of(bytes, 0, bytes.length);
            if (known == null) {
                throw new IllegalArgumentException("not a field name: " + name);
            }
            if (names.size() >= NAMES_MAX) {
                names.clear();
            }
            names.put(name, known);
        }
        return known;
    }

    private static List<String> values(FieldSection fields, FieldName name) {
        List<String> values = List.of();
        for (int line = fields.find(name); line >= 0; line = fields.next(name, line)) {
            values = with(values, fields.value(line));
        }
        return values;
    }
}
